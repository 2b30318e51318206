import { readdirSync, readFileSync } from 'node:fs'

/** Processes that one has started and that live. */
export function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const stat = statOf(pid)
      return stat !== undefined && Number(stat[1]) === parent && stat[0] !== 'Z'
    })
    .map(Number)
}

/** State and parent of a process; undefined when it ended meanwhile. */
function statOf(pid: string): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}
