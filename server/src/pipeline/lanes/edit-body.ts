import type { JsonObject } from '../../core/json.ts'
import type { PassedDialect, RewrittenRequest, WireDialect } from '../../providers/provider.ts'

/** Members the dialect's body needs or must not have. */
export function editBody(body: JsonObject, dialect: WireDialect): JsonObject {
  const edit = dialect.bodyEdit
  if (edit === undefined && dialect.modelPlace === 'body') return body
  const removed = new Set(edit?.remove ?? [])
  if (dialect.modelPlace === 'path') removed.add('model')
  return { ...Object.fromEntries(Object.entries(body).filter(([name]) => !removed.has(name))), ...edit?.set }
}

/** A body of the same wire form as its vendor takes it: in the vendor's own form, or with other members. */
export function rewriteBody(
  body: JsonObject,
  dialect: Pick<PassedDialect, 'rewrite'> & WireDialect,
  forwardModelId: string,
): RewrittenRequest {
  const rewritten = dialect.rewrite?.request({ ...body, model: forwardModelId })
  if (rewritten !== undefined) return rewritten
  return { body: editBody(body, dialect), dropped: [], context: {} }
}
