/**
 * Contract coverage. The rows of `docs/reference/contract.md` are the source: id, obligation, how it shows, area. The last
 * column, the tests that carry the id in their names, and the table of areas are written here. How many rows of an area
 * have no test is recorded in `contract-baseline.json` and only ever falls.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { syntaxOf, typescript, walk } from '../project/syntax.mjs'
import { isTest, root } from '../project/tree.mjs'

export const PAGE = 'docs/reference/contract.md'
export const BASELINE = 'docs/reference/contract-baseline.json'
/** Where the checklist lies on machines of people who have the specification beside the checkout. */
const CHECKLIST_BESIDE = '../shared/spec/checklist.md'
const ID = /\[((?:\d+(?:\.\d+)?|D-[a-z]+)-\d+)\]/g
/** Words of the checklist for what no request to the service shows: promises, advice, where TLS ends, how tests are made. */
const UNTESTABLE =
  /^(Cannot be tested|Nothing to test|Not testable|Dropped|Only at a deployed address|The test follows)/
/** Rows whose sentence a later decision replaced: the page says what holds now, whatever the checklist beside says. */
const DECIDED_ANEW = new Set(['D-money-24'])
/** More files than this of one row are shown as a number. */
const FILES_SHOWN = 3

const HEAD = `# The contract, row by row

Each row is one obligation of the API contract (tables 1 to 9) or of a decision where the contract is silent (tables
D-…). Ids are stable: never renumbered, never reused; a new row takes the next free number of its table, a dropped row
stays and says so. A test that shows a row carries the id at the end of its name: \`test('max_tokens above the model
limit is forwarded [4.1-14]', …)\`; one test may carry several ids. A row that cannot be tested from outside says why in the third
column. Comments cite a row or a section by its id: \`docs/reference/contract.md#4.1-14\`, \`docs/reference/contract.md#4.1\`.

The rows are the source. The last column and the table of areas are written by \`tools/reference.mjs\`; \`npm run check\`
fails when an area has more rows without a test than \`docs/reference/contract-baseline.json\` says.
`

/** { sections: [{ title, rows }], carriers, areas, mistakes }: everything the page and the check are made of. */
export function readContract(tree) {
  const sections = parseRows(tree.files.includes(PAGE) ? tree.read(PAGE) : '')
  return contractOf(tree, sections)
}

/** The same, with the rows of a checklist in place of those of the page, but for what was decided anew and tables of our own. */
export function importChecklist(tree, text) {
  const ours = readContract(tree)
  const kept = new Map(ours.rows.filter(({ id }) => DECIDED_ANEW.has(id)).map((row) => [row.id, row]))
  const sections = parseRows(text).map(({ title, rows }) => ({
    title,
    rows: rows.map((row) => kept.get(row.id) ?? row),
  }))
  const imported = new Set(sections.map(({ title }) => tableOf(title)))
  return contractOf(tree, [
    ...sections,
    ...ours.sections.filter(({ title }) => !imported.has(tableOf(title))),
  ])
}

/** `D-money` of `D-money: Money`. */
function tableOf(title) {
  return title.split(/[: ]/, 1)[0]
}

export function checklistBeside() {
  const path = join(root, CHECKLIST_BESIDE)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function contractOf(tree, sections) {
  const rows = sections.flatMap((section) => section.rows)
  const { carriers, mistakes } = findCarriers(tree, new Set(rows.map(({ id }) => id)))
  return {
    sections,
    rows,
    carriers,
    areas: countAreas(rows, carriers),
    mistakes: [...duplicates(rows), ...mistakes],
  }
}

export function parseRows(text) {
  const sections = []
  for (const line of text.split('\n')) {
    const title = /^## (?!Areas)(.+)$/.exec(line)?.[1]
    if (title !== undefined) sections.push({ title, rows: [] })
    const cells = /^\| ((?:\d+(?:\.\d+)?|D-[a-z]+)-\d+) \| (.*) \|$/.exec(line)
    if (cells === null) continue
    const [obligation, seen, area] = cells[2].split(' | ').map((cell) => cell.trim())
    sections.at(-1).rows.push({ id: cells[1], obligation, seen, area })
  }
  return sections.filter((section) => section.rows.length > 0)
}

/** Ids in the texts of test files, with the files that hold them. */
function findCarriers(tree, known) {
  const carriers = new Map()
  const mistakes = []
  for (const file of tree.files.filter(
    (path) => isTest(path) && /\.(ts|mjs)$/.test(path) && !path.startsWith('tools/'),
  )) {
    for (const id of idsIn(tree, file)) {
      if (!known.has(id)) mistakes.push(`${file} carries [${id}], which is no row of ${PAGE}`)
      const files = carriers.get(id) ?? new Set()
      carriers.set(id, files.add(file))
    }
  }
  return { carriers, mistakes }
}

function idsIn(tree, file) {
  if (!/\[(\d|D-)/.test(tree.read(file))) return []
  const ids = new Set()
  walk(syntaxOf(tree, file), (node) => {
    const isText = typescript.isStringLiteralLike(node) || typescript.isTemplateHead(node)
    if (!isText || isSkipped(node)) return
    for (const match of node.text.matchAll(ID)) ids.add(match[1])
  })
  return ids
}

/** A test that never runs shows nothing. */
function isSkipped(node) {
  const call = node.parent
  return typescript.isCallExpression(call) && /\.(skip|todo)$/.test(call.expression.getText())
}

function countAreas(rows, carriers) {
  const areas = new Map()
  for (const { id, seen, area } of rows) {
    const count = areas.get(area) ?? { rows: 0, shown: 0, open: 0, untestable: 0 }
    count.rows += 1
    if (carriers.has(id)) count.shown += 1
    else if (UNTESTABLE.test(seen)) count.untestable += 1
    else count.open += 1
    areas.set(area, count)
  }
  return new Map([...areas].sort(([one], [other]) => one.localeCompare(other)))
}

function duplicates(rows) {
  const seen = new Set()
  return rows
    .filter(({ id }) => seen.has(id) || !seen.add(id))
    .map(({ id }) => `${id} stands twice in ${PAGE}`)
}

export function contractPage({ sections, carriers, areas }) {
  const areaRows = [...areas].map(
    ([area, { rows, shown, open, untestable }]) =>
      `| ${area} | ${rows} | ${shown} | ${open} | ${untestable} |`,
  )
  const overview = [
    '## Areas',
    '',
    '| area | rows | shown by a test | without a test | not testable |',
    '|---|---|---|---|---|',
    ...areaRows,
  ]
  return `${HEAD}\n${overview.join('\n')}\n\n${sections.map((section) => sectionText(section, carriers)).join('\n')}`
}

function sectionText({ title, rows }, carriers) {
  const lines = rows.map(
    ({ id, obligation, seen, area }) =>
      `| ${id} | ${obligation} | ${seen} | ${area} | ${filesText(carriers.get(id))} |`,
  )
  return [
    `<a id="${tableOf(title)}"></a>`,
    '',
    '## ' + title,
    '',
    '| id | obligation | seen from outside as | area | tests |',
    '|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n')
}

function filesText(files) {
  if (files === undefined) return ''
  const sorted = [...files].sort()
  const links = sorted.slice(0, FILES_SHOWN).map((file) => `[${labelOf(file)}](../../${file})`)
  const more = sorted.length - links.length
  return more > 0 ? `${links.join(', ')} and ${more} more` : links.join(', ')
}

/** `chat-completions/200`: a test file is recognised by its folder and name. */
function labelOf(file) {
  return file
    .replace(/\.(test\.)?ts$/, '')
    .split('/')
    .slice(-2)
    .join('/')
}

/** What must hold beside the page being current; each finding a sentence. */
export function contractFindings(contract, baseline, checklist) {
  const findings = [...contract.mistakes]
  for (const [area, { open }] of contract.areas) {
    const allowed = baseline[area] ?? 0
    if (open > allowed) {
      findings.push(
        `area ${area}: ${open} rows have no test, ${allowed} had none before; a test that carried an id is gone`,
      )
    }
  }
  return checklist === undefined
    ? findings
    : [
        ...findings,
        ...differences(
          contract.rows,
          parseRows(checklist).flatMap(({ rows }) => rows),
        ),
      ]
}

function differences(ours, theirs) {
  const text = ({ obligation, seen, area }) => [obligation, seen, area].join(' | ')
  const known = new Map(ours.map((row) => [row.id, text(row)]))
  const changed = theirs
    .filter((row) => known.get(row.id) !== text(row) && !DECIDED_ANEW.has(row.id))
    .map(({ id }) => id)
  return changed.length === 0
    ? []
    : [
        `${changed.length} rows differ from the checklist beside the checkout (${changed.slice(0, 5).join(', ')}…); run \`node tools/reference.mjs --import\``,
      ]
}

export function lowered(baseline, areas) {
  return Object.fromEntries(
    [...areas].map(([area, { open }]) => [area, Math.min(open, baseline[area] ?? open)]),
  )
}

/** One line per area for people: what is open. */
export function coverageText({ areas }) {
  const all = [...areas.values()]
  const sum = (field) => all.reduce((total, count) => total + count[field], 0)
  const open = [...areas]
    .filter(([, count]) => count.open > 0)
    .map(([area, count]) => `${area} ${count.open}`)
  const head = `contract: ${sum('shown')} of ${sum('rows')} rows are shown by a test, ${sum('untestable')} cannot be`
  return open.length === 0 ? head : `${head}; without one: ${open.join(', ')}`
}
