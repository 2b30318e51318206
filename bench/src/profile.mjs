/** Says in which functions a recorded CPU profile spent its time. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const SHOWN = 30

export function profileText(folder) {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.cpuprofile'))
    .map((file) => `### ${file}\n\n${hottest(JSON.parse(readFileSync(join(folder, file), 'utf8')))}\n`)
    .join('\n')
}

function hottest({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]))
  const spent = new Map()
  let total = 0
  for (const [index, id] of samples.entries()) {
    const frame = byId.get(id)
    if (frame === undefined || frame.functionName === '(idle)') continue
    const name = `${frame.functionName || '(anonymous)'} ${basename(frame.url)}:${frame.lineNumber + 1}`
    spent.set(name, (spent.get(name) ?? 0) + timeDeltas[index])
    total += timeDeltas[index]
  }
  return [...spent]
    .sort(([, one], [, other]) => other - one)
    .slice(0, SHOWN)
    .map(([name, micros]) => `${((micros * 100) / total).toFixed(1).padStart(5)} %  ${name}`)
    .join('\n')
}
