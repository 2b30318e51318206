/** Figures beside what they may be, as a list for people. */

/** `atLeast`, `atMost`: of the figure of that name, in its unit. */
export type Goals = Readonly<Record<string, { readonly atLeast?: number; readonly atMost?: number }>>

/** Prints the figures under a title; those that have a goal say whether it is met. */
export function tell(title: string, figures: Readonly<Record<string, number>>, goals: Goals): void {
  process.stdout.write(`\n## ${title}\n\n`)
  for (const [name, value] of Object.entries(figures)) {
    process.stdout.write(`- ${line(name, value, goals[name])}\n`)
  }
}

function line(name: string, value: number, goal: Goals[string] | undefined): string {
  const shown = `${name} ${value.toFixed(2)}`
  if (goal === undefined) return shown
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = goal
  const bound = Number.isFinite(atLeast) ? `at least ${atLeast}` : `at most ${atMost}`
  return `${value >= atLeast && value <= atMost ? 'met' : 'MISSED'}: ${shown} (${bound})`
}
