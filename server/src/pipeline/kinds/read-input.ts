/** What kinds of endpoints that only read something have in common. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { usageReaders } from '../../core/metering/counters.ts'
import type { RequestText } from '../../core/metering/request-text.ts'

/** Usage of answers without output tokens: only the input counts. */
export const inputUsageReader = usageReaders({
  places: { input: ['prompt_tokens', 'total_tokens', 'input_tokens'] },
  toUsage: ({ input }) => ({ ...NO_USAGE, input, output: 0 }),
})

/** The model reads `input`: a text, texts, tokens, lists of tokens, or objects with a text among other things. */
export function textOfInput(body: JsonValue): RequestText {
  return textIn(isJsonObject(body) ? [body['input']] : [])
}

/** All texts and tokens in some values, in order; of an object its `text`, and those of its `content`. */
export function textIn(values: readonly (JsonValue | undefined)[]): RequestText {
  const texts: string[] = []
  let tokens = 0
  const pending = values.toReversed()
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'number') tokens += 1
    else if (isJsonArray(value)) for (const item of value.toReversed()) pending.push(item)
    else if (isJsonObject(value)) pending.push(value['content'], value['text'])
  }
  return { texts, messages: 0, media: 0, tokens }
}
