import type { JsonObject } from '../../core/json.ts'
import type { WireDialect } from '../../providers/provider.ts'

/** Members the dialect's body needs or must not have. */
export function editBody(body: JsonObject, dialect: WireDialect): JsonObject {
  const edit = dialect.bodyEdit
  if (edit === undefined && dialect.modelPlace === 'body') return body
  const removed = new Set(edit?.remove ?? [])
  if (dialect.modelPlace === 'path') removed.add('model')
  return { ...Object.fromEntries(Object.entries(body).filter(([name]) => !removed.has(name))), ...edit?.set }
}
