/**
 * Counters and histograms that cost a map look-up and an addition per event: values are plain numbers and are converted
 * to Prometheus text only on request. The number of series is limited, since some labels come from configuration.
 */
export interface Tally {
  /** The metric in Prometheus text form, without a final empty line. */
  render(): string
}

/** More series than this of one metric are counted together, under the label value `other`. */
export const SERIES_MAX = 2_000

export interface TallySettings<Label extends string> {
  readonly name: string
  readonly help: string
  readonly labels: readonly Label[]
}

export type LabelValues<Label extends string> = Readonly<Record<Label, string>>

/** What begins with the same values of the first labels, by the value of the next one. */
interface Branch<Child> {
  readonly branches: Map<string, Branch<Child>>
  /** That of a whole set of values. */
  child: Child | undefined
}

/**
 * Finds the child of a label set, creates it if it is new, and falls back to the shared one if there are too many. Looked
 * up label by label: a key made of all values would be a new text for every event.
 */
class Series<Label extends string, Child> {
  readonly #settings: TallySettings<Label>
  readonly #make: () => Child
  readonly #root: Branch<Child> = openBranch()
  readonly #children: { readonly text: string; readonly child: Child }[] = []
  #others: Child | undefined

  constructor(settings: TallySettings<Label>, make: () => Child) {
    this.#settings = settings
    this.#make = make
  }

  child(values: LabelValues<Label>): Child {
    let branch = this.#root
    for (const label of this.#settings.labels) {
      const next = branch.branches.get(values[label])
      if (next === undefined) return this.#open(values)
      branch = next
    }
    return branch.child ?? this.#open(values)
  }

  #open(values: LabelValues<Label>): Child {
    const { labels } = this.#settings
    if (this.#children.length >= SERIES_MAX) {
      this.#others ??= this.#add(labels.map((label) => `${label}="other"`).join(','))
      return this.#others
    }
    const child = this.#add(labels.map((label) => `${label}="${escapeLabel(values[label])}"`).join(','))
    let branch = this.#root
    for (const label of labels) branch = branchOf(branch, values[label])
    branch.child = child
    return child
  }

  #add(text: string): Child {
    const child = this.#make()
    this.#children.push({ text, child })
    return child
  }

  render(kind: 'counter' | 'histogram', lines: (child: Child, labels: string) => string[]): string {
    const { name, help } = this.#settings
    const head = [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`]
    return [...head, ...this.#children.flatMap(({ text, child }) => lines(child, text))].join('\n')
  }
}

function openBranch<Child>(): Branch<Child> {
  return { branches: new Map(), child: undefined }
}

function branchOf<Child>(branch: Branch<Child>, value: string): Branch<Child> {
  const known = branch.branches.get(value)
  if (known !== undefined) return known
  const opened = openBranch<Child>()
  branch.branches.set(value, opened)
  return opened
}

export class CounterTally<Label extends string> implements Tally {
  readonly #name: string
  readonly #series: Series<Label, { value: number }>

  constructor(settings: TallySettings<Label>) {
    this.#name = settings.name
    this.#series = new Series(settings, () => ({ value: 0 }))
  }

  add(values: LabelValues<Label>, amount: number): void {
    this.#series.child(values).value += amount
  }

  render(): string {
    return this.#series.render('counter', (child, labels) => [
      `${this.#name}${braced(labels)} ${child.value}`,
    ])
  }
}

interface Distribution {
  /** One more than there are bounds: the last counts values above all of them. */
  readonly counts: Float64Array
  sum: number
}

export class HistogramTally<Label extends string> implements Tally {
  readonly #name: string
  readonly #bounds: readonly number[]
  readonly #series: Series<Label, Distribution>

  /** `bounds`: upper ends of the buckets, ascending, in the unit the name ends with. */
  constructor(settings: TallySettings<Label> & { readonly bounds: readonly number[] }) {
    this.#name = settings.name
    this.#bounds = settings.bounds
    this.#series = new Series(settings, () => ({
      counts: new Float64Array(settings.bounds.length + 1),
      sum: 0,
    }))
  }

  observe(values: LabelValues<Label>, value: number): void {
    const child = this.#series.child(values)
    let bucket = 0
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket += 1
    child.counts[bucket] = (child.counts[bucket] ?? 0) + 1
    child.sum += value
  }

  render(): string {
    return this.#series.render('histogram', (child, labels) => this.#lines(child, labels))
  }

  #lines({ counts, sum }: Distribution, labels: string): string[] {
    const prefix = labels === '' ? '' : `${labels},`
    let total = 0
    const buckets = [...this.#bounds.map(String), '+Inf'].map((bound, at) => {
      total += counts[at] ?? 0
      return `${this.#name}_bucket{${prefix}le="${bound}"} ${total}`
    })
    return [
      ...buckets,
      `${this.#name}_sum${braced(labels)} ${sum}`,
      `${this.#name}_count${braced(labels)} ${total}`,
    ]
  }
}

/** A value that is read on request. */
export class GaugeReading implements Tally {
  readonly #settings: { readonly name: string; readonly help: string; readonly read: () => number }

  constructor(settings: { readonly name: string; readonly help: string; readonly read: () => number }) {
    this.#settings = settings
  }

  render(): string {
    const { name, help, read } = this.#settings
    return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${read()}`
  }
}

/** A value for each of several things that may come and go, such as unhealthy chains. */
export class GaugeFamily implements Tally {
  readonly #settings: GaugeFamilySettings

  constructor(settings: GaugeFamilySettings) {
    this.#settings = settings
  }

  render(): string {
    const { name, help, read } = this.#settings
    const lines = read().map(({ labels, value }) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
      return `${name}${braced(pairs.join(','))} ${value}`
    })
    return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...lines].join('\n')
  }
}

export interface GaugeFamilySettings {
  readonly name: string
  readonly help: string
  readonly read: () => readonly {
    readonly labels: Readonly<Record<string, string>>
    readonly value: number
  }[]
}

const braced = (labels: string): string => (labels === '' ? '' : `{${labels}}`)

function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}
