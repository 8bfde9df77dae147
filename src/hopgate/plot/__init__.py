"""Pictures of concepts, walks, gates and time, for one's own notebook (extra `notebooks`)."""
