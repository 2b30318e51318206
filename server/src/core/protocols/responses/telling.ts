/** Which text an event or a finished item refers to: the fields that identify it differ from kind to kind. */
import type { BlockStart } from '../../canonical/response.ts'
import type { JsonObject } from '../../json.ts'
import { countOf } from '../read-json.ts'

export interface How {
  readonly key: string
  readonly kind: BlockStart
  readonly counter: 'content_index' | 'summary_index'
  /** Each part is a block of its own, not a paragraph of one. */
  readonly separate: boolean
}

/** One text of one item. */
export interface Telling {
  readonly key: string
  readonly kind: BlockStart
  readonly part: number
}

export const TEXT: How = { key: 'text', kind: { type: 'text' }, counter: 'content_index', separate: true }
export const REFUSAL: How = {
  key: 'refusal',
  kind: { type: 'refusal' },
  counter: 'content_index',
  separate: true,
}
export const SUMMARY: How = {
  key: 'summary',
  kind: { type: 'reasoning', kind: 'summary' },
  counter: 'summary_index',
  separate: false,
}
export const RAW: How = {
  key: 'raw',
  kind: { type: 'reasoning', kind: 'raw' },
  counter: 'content_index',
  separate: false,
}
/** Reasoning without text that is only replayed. */
export const SEALED: Telling = { key: 'sealed', kind: { type: 'reasoning', kind: 'redacted' }, part: 0 }

export function tellingOf(json: JsonObject, how: How): Telling {
  return telling(how, countOf(json[how.counter]) ?? 0)
}

export function telling({ key, kind, separate }: How, part: number): Telling {
  return separate ? { key: `${key}${part}`, kind, part: 0 } : { key, kind, part }
}
