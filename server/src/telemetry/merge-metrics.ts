/**
 * Metrics of several processes as one page: every sample keeps its value and gains a label that names its process,
 * since counters of different processes must not be mistaken for one series.
 */
export interface MetricsPage {
  /** Value of the label `worker`. */
  readonly worker: string
  /** Prometheus text form. */
  readonly text: string
}

interface Family {
  /** `# HELP` and `# TYPE`, from the first page with the family. */
  readonly head: string[]
  readonly samples: string[]
}

const SAMPLE = /^([A-Za-z_:][\w:]*)(\{(.*)\})?( .+)$/s
const COMMENT = /^# (HELP|TYPE) (\S+)/

export function mergeMetrics(pages: readonly MetricsPage[]): string {
  const families = new Map<string, Family>()
  for (const page of pages) addPage(families, page)
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples])
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

function addPage(families: Map<string, Family>, { worker, text }: MetricsPage): void {
  let current: Family = { head: [], samples: [] }
  let named = false
  for (const line of text.split('\n')) {
    const comment = COMMENT.exec(line)
    if (comment !== null) {
      const [, what = '', name = ''] = comment
      const known = families.get(name)
      current = known ?? { head: [], samples: [] }
      if (known === undefined) families.set(name, current)
      named = true
      if (!current.head.some((other) => other.startsWith(`# ${what} `))) current.head.push(line)
      continue
    }
    const sample = SAMPLE.exec(line)
    if (sample === null || !named) continue
    const [, name = '', , inside = '', value = ''] = sample
    current.samples.push(`${name}{worker="${worker}"${inside === '' ? '' : `,${inside}`}}${value}`)
  }
}
