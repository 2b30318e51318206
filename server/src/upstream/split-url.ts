export interface SplitUrl {
  readonly origin: string
  /** Path and query. */
  readonly path: string
}

/** Addresses are few (one a chain) but ids of stored responses stand in some. */
const REMEMBERED_MAX = 1_024

export class SplitUrls {
  readonly #remembered = new Map<string, SplitUrl>()

  /** undefined: no http or https address. Parsed once, because `new URL` costs more than the rest of a small call's head. */
  split(text: string): SplitUrl | undefined {
    const known = this.#remembered.get(text)
    if (known !== undefined) return known
    if (!URL.canParse(text)) return undefined
    const url = new URL(text)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
    const split = { origin: url.origin, path: url.pathname + url.search }
    if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear()
    this.#remembered.set(text, split)
    return split
  }
}
