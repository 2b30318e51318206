/**
 * Runs before the first paint: sets the theme that is stored in this browser, or that of the system, and sends the first
 * requests of the page while its scripts are loaded (`console/src/api/client.ts` takes the answers). A classic script, without
 * imports.
 */
{
  const root = document.documentElement
  const chosen = localStorage.getItem('sluice-theme')
  const isDark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  root.dataset.mantineColorScheme = isDark ? 'dark' : 'light'
  // The page is served in the language of the browser; another one may be chosen.
  const language = localStorage.getItem('sluice-language') ?? root.lang
  root.toggleAttribute('data-other-language', language !== root.lang)
  root.toggleAttribute('data-narrow-bar', localStorage.getItem('sluice-narrow-bar') === 'true')

  const asked = new Map()
  const { ask, askOwn } = document.currentScript?.dataset ?? {}
  const isOwn = !new URLSearchParams(location.search).has('org')
  const addresses = [ask, isOwn ? askOwn : undefined].flatMap((list) => list?.split(' ') ?? [])
  for (const address of addresses) {
    const answer = window.fetch(address, { cache: 'no-cache' })
    // The failure is reported to the client that takes the answer.
    answer.catch(() => undefined)
    asked.set(new URL(address, location.origin).href, answer)
  }
  globalThis.sluiceAsked = asked
  // The first formatter of a page takes 20 ms, whichever it is: this one is made while the styles are loaded, without which
  // nothing is painted.
  new Intl.NumberFormat()
}
