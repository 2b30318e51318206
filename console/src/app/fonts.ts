/**
 * The fonts are loaded after everything that the first page needs: on a slow connection they are up to a third of it, and the
 * page is readable without them. Once the browser has cached them, they are loaded with the page.
 */
import sans from '@fontsource-variable/inter/wght.css?url'
import mono from '@fontsource-variable/jetbrains-mono/wght.css?url'
import { inBackground } from '../parts/page/in-background.ts'

const SEEN = 'sluice-fonts'

/** @param later calls back after the first page */
export function bringFonts(later: (act: () => void) => void): void {
  if (localStorage.getItem(SEEN) === null) later(bring)
  else bring()
}

function bring(): void {
  for (const href of [sans, mono]) {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = href
    document.head.append(link)
  }
  inBackground(document.fonts.ready.then(() => localStorage.setItem(SEEN, 'yes')))
}
