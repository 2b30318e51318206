import { deepStrictEqual } from 'node:assert'

/** Throws with both where they are not the same; a field that is undefined is one that is not there. */
export function expectSame(what: string, found: unknown, expected: unknown): void {
  if (isSame(found, expected)) return
  try {
    deepStrictEqual(found, expected)
  } catch (error) {
    const difference = error instanceof Error ? error.message : String(error)
    throw new Error(`${what} is not as the model has it: ${difference}`, { cause: error })
  }
  throw new Error(`${what} is not as the model has it`)
}

/** Plain data only. Written out because it runs some hundred times a step, where a general comparison costs most of it. */
function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true
  if (!isObject(left) || !isObject(right)) return false
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, index) => isSame(item, right[index]))
  }
  for (const field in left) if (!isSame(left[field], right[field])) return false
  for (const field in right) if (right[field] !== undefined && left[field] === undefined) return false
  return true
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
