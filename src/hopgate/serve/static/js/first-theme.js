// Before anything is painted: the colours that were chosen last time.
try {
  const kept = localStorage.getItem("hopgate-theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
} catch {
  // No storage, no choice: as the system says.
}
