import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { formatDropped } from '../../core/protocols/dropped-fields.ts'
import { SseFramer } from '../../core/sse/framer.ts'
import { parseJson } from '../attempt/classify.ts'
import type {
  FormRewrite,
  PassedDialect,
  RewrittenRequest,
  SentFiles,
  Sound,
  WireDialect,
} from '../../providers/provider.ts'

/** Adds and removes the members that the dialect requires or forbids. */
export function editBody(body: JsonObject, dialect: WireDialect): JsonObject {
  const edit = dialect.bodyEdit
  if (edit === undefined && dialect.modelPlace === 'body') return body
  const removed = new Set(edit?.remove ?? [])
  if (dialect.modelPlace === 'path') removed.add('model')
  return { ...Object.fromEntries(Object.entries(body).filter(([name]) => !removed.has(name))), ...edit?.set }
}

/**
 * A body of the same wire form as its vendor accepts it: in the vendor's own form, or with other members. `sent`: the
 * files of a body that is a form.
 */
export function rewriteBody(
  body: JsonObject,
  dialect: Pick<PassedDialect, 'rewrite'> & WireDialect,
  forwardModelId: string,
  sent?: SentFiles,
): RewrittenRequest {
  const rewritten = dialect.rewrite?.request({ ...body, model: forwardModelId }, sent)
  if (rewritten === undefined) return { body: editBody(body, dialect), dropped: [], context: {} }
  return { ...rewritten, dropped: formatDropped(rewritten.dropped) }
}

/** An answer in a vendor's own form, rewritten into the client's form. */
export interface RewrittenAnswer {
  /** JSON: the answer, or the facts about it if the answer itself is sound. */
  readonly document: Uint8Array
  readonly sound?: Sound
}

/** undefined: this is not a valid answer of the vendor. */
export function rewriteAnswer(
  bytes: Uint8Array,
  rewrite: FormRewrite,
  context: JsonObject,
): RewrittenAnswer | undefined {
  const body = documentIn(bytes, rewrite)
  if (body === undefined) return undefined
  const told = rewrite.answer(body, context)
  if (told === undefined) return undefined
  const document = Buffer.from(JSON.stringify(told))
  if (rewrite.sound === undefined || told['error'] !== undefined) return { document }
  const sound = rewrite.sound(body, context)
  return sound && { document, sound }
}

/** For a vendor that answers in events: a single document is an error. */
function documentIn(bytes: Uint8Array, { gathered }: FormRewrite): JsonObject | undefined {
  const parsed = parseJson(bytes)
  if (isJsonObject(parsed)) return parsed
  const events = gathered === undefined ? [] : eventsIn(bytes)
  return events.length === 0 ? undefined : gathered?.(events)
}

function eventsIn(bytes: Uint8Array): readonly JsonObject[] {
  const events: JsonObject[] = []
  const framer = new SseFramer()
  framer.push(bytes)
  while (framer.next() || framer.finish()) {
    const event = framer.dataLines === 0 ? undefined : parseJson(framer.data())
    if (isJsonObject(event)) events.push(event)
  }
  return events
}
