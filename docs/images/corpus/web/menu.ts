/** Opens and closes the navigation menu of small screens. */
export function toggleMenu(button: HTMLElement, menu: HTMLElement): void {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  menu.hidden = open;
}
