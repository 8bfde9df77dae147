def note_facts(reading, source):
    return []
