/** Marks a page that is longer than its window: a dialog that holds it keeps the place of its bar free, and no other page's. */
export function markScrollingPage(): void {
  const root = document.documentElement
  const mark = (): void => {
    root.toggleAttribute('data-scrolls', root.scrollHeight > root.clientHeight)
  }
  new ResizeObserver(mark).observe(document.body)
}
