/**
 * A citation names a page of the repository and a place on it that is there: `docs/protocols.md#chat-streams`,
 * `docs/reference/contract.md#8-06, #8-07`, `docs/decisions/0004-storage-engines.md`. A place is a heading, an anchor,
 * or a row whose first cell is its id. A file of the code that is named in backticks is there as well, by the end of its
 * path (`pipeline/call.ts`). Forms that nobody can follow are refused.
 */
import { posix } from 'node:path'

const TEXT = /\.(ts|tsx|mjs|cjs|js|md|json|sql|css|sh|ya?ml|py|go|conf|service)$/
/** A page, then places on it: a second one on the same page is written `, #place`. */
const CITATION = /(?<![\w./-])(docs\/[\w./-]+\.md)((?:#[\w.-]*[\w-])(?:(?:,| and) #[\w.-]*[\w-])*)?/g
const NAMED_FILE = /`((?:[\w-]+\/)+[\w.-]+\.(?:tsx?|mjs|cjs))`/g
const LINK = /\]\((?![a-z]+:)([^)\s#]*)#([^)\s]+)\)/g

const OLD_FORMS = [
  /** Paragraphs of standards are cited by them; no page of the repository has any. */
  { form: /(?<!\b(RFC \d+|WHATWG HTML) )§/, name: 'a paragraph of no page' },
  { form: /\btraps? \d/i, name: 'a trap by its number alone' },
  { form: /\(design:|\bdesign: \w/i, name: 'a design that is not here' },
  { form: /(?:[(;] ?|\/\*\* |^ *\* |\/\/ )decisions(?:[,;:] |,$|\))/i, name: 'decisions' },
  { form: /\bdecisions,? [A-Z]/, name: 'decisions' },
  { form: /^\s*(?:\*|\/\/) #[a-z\d]/i, name: 'a place without its page' },
]
/** Where the old forms are what is talked about, or a page that is written from the contract's own words. */
const ABOUT_FORMS = /^(tools\/tidy\/(citations|tidy\.test)\.mjs|docs\/reference\/contract\.md)$/

export function checkCitations(tree) {
  const places = new Map()
  const placesOf = (page) => {
    if (!places.has(page)) places.set(page, readPlaces(tree.read(page)))
    return places.get(page)
  }
  return tree.files
    .filter((file) => TEXT.test(file) && !/\/fixtures\//.test(file) && !ABOUT_FORMS.test(file))
    .flatMap((file) =>
      tree
        .read(file)
        .split('\n')
        .flatMap((text, index) =>
          [...oldForms(file, text), ...lost(tree, placesOf, file, text), ...lostFiles(tree, file, text)].map(
            (message) => ({
              file,
              line: index + 1,
              message,
            }),
          ),
        ),
    )
}

function oldForms(file, text) {
  return OLD_FORMS.filter(({ form }) => form.test(text)).map(
    ({ name }) =>
      `cites ${name}, which nobody can follow; name a page and a place on it, as docs/protocols.md#chat`,
  )
}

function lost(tree, placesOf, file, text) {
  return [...cited(file, text)].flatMap(({ page, place }) => {
    if (!tree.files.includes(page)) return [`cites ${page}, which does not exist`]
    if (place === undefined || !page.endsWith('.md') || placesOf(page).has(place)) return []
    return [`cites #${place}, which is no heading, anchor or row of ${page}`]
  })
}

/** Documents are followed by `doc-links.mjs`. */
function lostFiles(tree, page, text) {
  if (page.endsWith('.md')) return []
  return [...text.matchAll(NAMED_FILE)]
    .map(([, name]) => name)
    .filter((name) => !tree.files.some((file) => file === name || file.endsWith(`/${name}`)))
    .map((name) => `names ${name}, which does not exist`)
}

function* cited(file, text) {
  for (const [, page, list] of text.matchAll(CITATION)) {
    const places = list?.match(/(?<=#)[\w.-]+/g) ?? [undefined]
    for (const place of places) yield { page, place }
  }
  if (!file.endsWith('.md')) return
  for (const [, path, place] of text.matchAll(LINK)) {
    yield { page: path === '' ? file : posix.join(posix.dirname(file), path), place }
  }
}

/** Headings as a browser of the repository names them, anchors in HTML, and ids in the first cell of a row. */
function readPlaces(text) {
  const places = new Set()
  for (const line of text.split('\n')) {
    const heading = /^#+ (.+)$/.exec(line)?.[1]
    if (heading !== undefined) places.add(slugOf(heading))
    for (const [, id] of line.matchAll(/<a (?:id|name)="([^"]+)">/g)) places.add(id)
    const row = /^\| `?([\w.-]+)`? \|/.exec(line)?.[1]
    if (row !== undefined) places.add(row)
  }
  return places
}

function slugOf(heading) {
  return heading
    .toLowerCase()
    .replace(/<[^>]*>/g, '')
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .trim()
    .replace(/ /g, '-')
}
