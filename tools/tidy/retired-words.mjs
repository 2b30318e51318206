/** Words that engineers elsewhere would have to translate, with what is said instead (docs/style.md, Names). */
const RETIRED = new Map([
  ['house', 'gateway, or app/ for where modules are put together'],
  ['rooms', 'modules'],
  ['walls', 'import rules'],
  ['floors', 'layers'],
  ['corridor', 'request pipeline'],
  ['door', 'what it leads to: an end, a way in, an address'],
  ['office', 'management API'],
  ['calculator', 'core, or pure functions'],
  ['film', 'video'],
  ['crew', 'workers'],
  ['roster', 'what it holds'],
  ['seat', 'what it holds a place for'],
  ['dear', 'expensive, or what costs extra'],
  ['dearer', 'more expensive'],
  ['dearest', 'most expensive'],
  ['backstage', 'operations, or what it holds'],
  ['nonsense', 'what is wrong with it: unreadable, impossible, out of range'],
])
/** Ordinary words, which only these phrases turn into private ones: there may be room on a disk, and a clock on a wall. */
const RETIRED_PHRASES = [
  { form: /\b(?:an?|each|every|another|its|own|this|which) rooms?\b/i, instead: 'module' },
  { form: /\b(?:an?|each|every|another|its|own|this|which) walls?\b(?!-)/i, instead: 'import rule' },
  {
    form: /\b(?:an?|the|each|every|another|its|own|this|which) floor\b/i,
    instead: 'layer, or lowest version',
  },
  {
    form: /\b(?:many|few|fewer|number of|per|\d+) letters?\b|\bletters(?:Max|Min|Per|In)/,
    instead: 'characters',
  },
  { form: /\bthrough (?:\S+ ){0,3}eyes\b/i, instead: 'impersonates' },
  { form: /\bleaves by one of\b/i, instead: 'ends: settled or abandoned' },
]
const WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g

/** Stays as it is: it was written into databases, or is about the word itself. */
const ALLOWED = [
  { file: 'server/src/storage/sql/migrations/customers.ts', word: 'office' },
  { file: 'server/src/core/identity/email-address.test.ts', word: 'office' },
]

export function checkRetiredWords(tree) {
  return tree.files.filter(isOurs).flatMap((file) =>
    [{ text: file }, ...linesOf(tree.read(file))].flatMap(({ text, line }) =>
      [...retiredWordsIn(text, file), ...retiredPhrasesIn(text)].map((message) => ({
        file,
        line,
        message,
      })),
    ),
  )
}

function retiredWordsIn(text, file) {
  return [...new Set(text.match(WORD) ?? [])]
    .map((word) => word.toLowerCase())
    .filter((word) => insteadOf(word) !== undefined && !isAllowed(file, word))
    .map((word) => `"${word}" is retired; say ${insteadOf(word)}`)
}

function retiredPhrasesIn(text) {
  return RETIRED_PHRASES.flatMap(({ form, instead }) => {
    const [phrase] = form.exec(text) ?? []
    return phrase === undefined ? [] : [`"${phrase}" is retired; say ${instead}`]
  })
}

/** A word, or the plural of one. */
function insteadOf(word) {
  return RETIRED.get(word) ?? RETIRED.get(word.replace(/s$/, ''))
}

/** Rows of the contract are in its own words. */
function isOurs(file) {
  const isKept =
    /\/fixtures\/|^docs\/reference\/contract\.md$|package-lock\.json$|^tools\/tidy\/(retired-words|tidy\.test)\.mjs$/
  return /\.(ts|tsx|mjs|cjs|md|json|yaml|yml|css|sh)$/.test(file) && !isKept.test(file)
}

function linesOf(text) {
  return text.split('\n').map((line, index) => ({ text: line, line: index + 1 }))
}

function isAllowed(file, word) {
  return ALLOWED.some((one) => one.file === file && one.word === word)
}
