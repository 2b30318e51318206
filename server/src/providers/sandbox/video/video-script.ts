/**
 * What a sandbox video does, read from plain markers in its prompt. A marker may be anywhere in the prompt:
 *
 * - `sandbox:polls=7` is finished at the seventh poll, `sandbox:every=50` is polled every 50 ms;
 * - `sandbox:slow` takes about a minute;
 * - `sandbox:link` is delivered as a lasting link, `sandbox:short-link` as one that expires within the hour; both are
 *   dead links. Without them the bytes themselves are delivered;
 * - `sandbox:fail`, `sandbox:moderated`, `sandbox:invalid`, `sandbox:quota`, `sandbox:expired` and `sandbox:cancelled`
 *   are accepted and end in that way;
 * - `sandbox:refused`, `sandbox:busy`, `sandbox:unpaid`, `sandbox:locked` and `sandbox:broken` are not accepted;
 * - `sandbox:garbled` is accepted and then gives an unreadable answer.
 */
export interface Script {
  readonly ending: Ending
  /** How many polls it takes. */
  readonly polls: number
  readonly everyMs: number
}

export type Ending = (typeof ENDINGS)[number]

const ENDINGS = [
  'bytes',
  'link',
  'short-link',
  'fail',
  'moderated',
  'invalid',
  'quota',
  'expired',
  'cancelled',
  'refused',
  'busy',
  'unpaid',
  'locked',
  'broken',
  'garbled',
] as const

const POLLS = { usual: 3, slow: 60, max: 10_000 }
const EVERY_MS = { usual: 500, slow: 1_000, max: 600_000 }

export function scriptOf(prompt: string): Script {
  const markers = [...prompt.matchAll(/\bsandbox:([a-z-]+)(?:=(\d{1,6}))?/g)].map(([, name = '', value]) => ({
    name,
    value: value === undefined ? undefined : Number(value),
  }))
  const pace = markers.some(({ name }) => name === 'slow') ? 'slow' : 'usual'
  const numberOf = (wanted: string): number | undefined => markers.find(({ name }) => name === wanted)?.value
  return {
    ending: markers.map(({ name }) => endingOf(name)).find((ending) => ending !== undefined) ?? 'bytes',
    polls: Math.min(Math.max(1, numberOf('polls') ?? POLLS[pace]), POLLS.max),
    everyMs: Math.min(numberOf('every') ?? EVERY_MS[pace], EVERY_MS.max),
  }
}

export function endingOf(name: string): Ending | undefined {
  return ENDINGS.find((ending) => ending === name)
}
