import type { JsonObject, JsonValue } from '../../core/json.ts'

/** The members of a request that a vendor supports, under the vendor's names; all others are dropped. */
export function renamed(
  body: JsonObject,
  names: Readonly<Record<string, string>>,
): { readonly members: JsonObject; readonly dropped: readonly string[] } {
  const members: Record<string, JsonValue> = {}
  const dropped: string[] = []
  for (const [name, value] of Object.entries(body)) {
    const own = Object.hasOwn(names, name) ? names[name] : undefined
    if (value === undefined || value === null) continue
    if (own === undefined) dropped.push(name)
    else members[own] = value
  }
  return { members, dropped }
}
