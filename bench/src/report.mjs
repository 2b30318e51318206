/** Medians, ratios, and whether the goals are met, as Markdown for people. */
import { execFileSync } from 'node:child_process'
import { cpus, release, totalmem } from 'node:os'

export function reportOf({ comparison, rows }) {
  const names = [...new Set(rows.map(({ name }) => name))]
  const figures = [...new Set(rows.flatMap(({ figures: all }) => Object.keys(all)))]
  const medians = Object.fromEntries(
    names.map((name) => [
      name,
      Object.fromEntries(figures.map((figure) => [figure, median(valuesOf(rows, name, figure))])),
    ]),
  )
  const lines = [
    `## ${comparison.title}`,
    '',
    `| median of ${rows.length / names.length} rounds | ${names.join(' | ')} |`,
    `|---|${names.map(() => '---:|').join('')}`,
    ...figures.map(
      (figure) => `| ${figure} | ${names.map((name) => shown(medians[name][figure])).join(' | ')} |`,
    ),
    '',
    ...comparison.goals
      .map((goal) => goalLine(goal, comparison.figure, medians))
      .filter((line) => line !== undefined),
    '',
    `Rounds (${comparison.figure}): ${names.map((name) => `${name} ${valuesOf(rows, name, comparison.figure).map(shown).join(', ')}`).join(' · ')}`,
    '',
  ]
  return lines.join('\n')
}

function goalLine(goal, mainFigure, medians) {
  const figure = goal.figure ?? mainFigure
  const ours = medians[goal.of ?? 'sluice']?.[figure]
  const theirs = goal.against === undefined ? 1 : medians[goal.against]?.[mainFigure]
  if (ours === undefined || theirs === undefined) return undefined
  const value = ours / theirs
  const met = goal.atLeast === undefined ? value <= goal.atMost : value >= goal.atLeast
  const bound = goal.atLeast === undefined ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`
  const who = goal.of === undefined ? '' : `${goal.of}: `
  const what = goal.against === undefined ? figure : `${who}${figure}, ratio to ${goal.against}`
  return `- ${met ? 'met' : 'MISSED'}: ${what} ${shown(value)} (${bound})`
}

const valuesOf = (rows, name, figure) =>
  rows
    .filter((row) => row.name === name && row.figures[figure] !== undefined)
    .map((row) => row.figures[figure])

function median(values) {
  if (values.length === 0) return undefined
  const sorted = [...values].sort((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function shown(value) {
  if (value === undefined) return ''
  const digits = Math.abs(value) >= 1_000 ? 0 : Math.abs(value) >= 100 ? 1 : 2
  return Number(value.toFixed(digits)).toLocaleString('en').replaceAll(',', ' ')
}

/** What one must know to compare figures with those of another day. */
export function machineFacts(root) {
  const version = (file, args) =>
    execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  const [cpu] = cpus()
  return [
    `- ${cpus().length} × ${cpu?.model ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    `- Node ${process.version}, nginx as Debian packs it, \`@portkey-ai/gateway\` 1.15.2, wrk`,
    `- Sluice at ${version('git', ['-C', root, 'rev-parse', '--short', 'HEAD'])}, one process, SQLite on disk`,
    '- gateways on core 0; upstream and load generator on core 1',
  ]
}
