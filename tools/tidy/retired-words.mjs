/** Words that engineers elsewhere would have to translate, with what is said instead (docs/style.md, Names). */
const RETIRED = new Map([
  ['house', 'gateway, or app/ for where modules are put together'],
  ['rooms', 'modules'],
  ['walls', 'import rules'],
  ['corridor', 'request pipeline'],
  ['door', 'what it leads to: an end, a way in, an address'],
  ['doors', 'what they lead to: ends, ways in, addresses'],
  ['office', 'management API'],
  ['calculator', 'core, or pure functions'],
  ['film', 'video'],
  ['films', 'videos'],
  ['crew', 'workers'],
  ['roster', 'what it holds'],
  ['nonsense', 'what is wrong with it: unreadable, impossible, out of range'],
])
const WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g

/** Stays as it is: it was written into databases, or is about the word itself. */
const ALLOWED = [
  { file: 'server/src/storage/sql/migrations/customers.ts', word: 'office' },
  { file: 'server/src/core/identity/email-address.test.ts', word: 'office' },
]

export function checkRetiredWords(tree) {
  return tree.files.filter(isOurs).flatMap((file) =>
    [{ text: file }, ...linesOf(tree.read(file))].flatMap(({ text, line }) =>
      [...new Set(text.match(WORD) ?? [])]
        .map((word) => word.toLowerCase())
        .filter((word) => RETIRED.has(word) && !isAllowed(file, word))
        .map((word) => ({ file, line, message: `"${word}" is retired; say ${RETIRED.get(word)}` })),
    ),
  )
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
