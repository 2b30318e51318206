/** Marks a page that scrolls: only then does a dialog reserve the width of its scroll bar. */
export function markScrollingPage(): void {
  const root = document.documentElement
  const mark = (): void => {
    root.toggleAttribute('data-scrolls', root.scrollHeight > root.clientHeight)
  }
  new ResizeObserver(mark).observe(document.body)
}
