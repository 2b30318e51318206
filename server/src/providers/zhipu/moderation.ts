/** Moderation by Zhipu: one text or one picture a call, and findings of its own in OpenAI's form (docs/protocols.md#moderation). */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { passedDialect } from '../dialects/passed.ts'
import { renamed } from '../dialects/rename.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { WORDS } from './failure-words.ts'

/** The only level of what it has nothing against; others are to be reviewed or refused. */
const HARMLESS = 'PASS'

const rewrite: FormRewrite = {
  refuses: ({ input }) =>
    inputOf(input) === undefined ? 'input: this vendor reads one text or one picture a call' : undefined,
  request: ({ model = null, input, ...rest }) => {
    const { dropped } = renamed(rest, {})
    return { body: { model, input: inputOf(input) ?? null }, dropped, context: {} }
  },
  answer: ({ id = null, model = null, result_list: found, usage }) => {
    if (!isJsonArray(found)) return undefined
    const categories = categoriesOf(found)
    return {
      id,
      model,
      results: [
        {
          flagged: found.some((one) => isJsonObject(one) && !isHarmless(one)),
          categories: Object.fromEntries(categories.map((name) => [name, true])),
          category_scores: Object.fromEntries(categories.map((name) => [name, 1])),
          result_list: found,
        },
      ],
      ...(usage === undefined ? {} : { usage }),
    }
  },
}

/** As the vendor takes it; undefined: it is several inputs, or none. */
function inputOf(input: JsonValue | undefined): JsonValue | undefined {
  if (typeof input === 'string') return input
  if (!isJsonArray(input) || input.length !== 1) return undefined
  const [only] = input
  if (typeof only === 'string') return only
  if (!isJsonObject(only)) return undefined
  if (only['type'] === 'text') return typeof only['text'] === 'string' ? only['text'] : undefined
  const picture = only['type'] === 'image_url' ? only['image_url'] : undefined
  const url = isJsonObject(picture) ? picture['url'] : undefined
  return typeof url === 'string' ? { type: 'image', url } : undefined
}

/** A level that is missing is no proof that all is well. */
const isHarmless = (finding: JsonObject): boolean => finding['risk_level'] === HARMLESS

/** Kinds of risk that were found, each once. */
function categoriesOf(found: readonly JsonValue[]): readonly string[] {
  const names = found.flatMap((one) => {
    const types = isJsonObject(one) && !isHarmless(one) ? one['risk_type'] : undefined
    return isJsonArray(types) ? types.filter((type) => typeof type === 'string') : []
  })
  return [...new Set(names)]
}

export const zhipuModeration: PassedDialect = passedDialect({
  protocol: 'moderation',
  path: '/moderations',
  words: WORDS,
  rewrite,
})
