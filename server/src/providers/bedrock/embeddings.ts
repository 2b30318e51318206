/** Vectors by models of Amazon (Titan) and Cohere (docs/protocols.md#embeddings). */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import type { JsonValue } from '../../core/json.ts'
import { COHERE_PURPOSE, cohereVectors } from '../dialects/cohere-embeddings.ts'
import { renamed } from '../dialects/rename.ts'
import { vectorList } from '../dialects/vectors.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { invoked } from './invoke.ts'

const OF_AMAZON = /titan-embed/
/** Its first version takes a text and nothing else. */
const SECOND_VERSION = /titan-embed-text-v2/
const NAMES = { dimensions: 'dimensions', normalize: 'normalize' }

const titan: FormRewrite = {
  request: ({ model = null, input = null, encoding_format: format, ...rest }) => {
    const isSecond = typeof model === 'string' && SECOND_VERSION.test(model)
    const { members, dropped } = renamed(rest, isSecond ? NAMES : {})
    const text: JsonValue = isJsonArray(input) ? (input[0] ?? null) : input
    return {
      body: { inputText: text, ...members },
      dropped,
      context: { model, base64: format === 'base64' },
    }
  },
  answer: ({ embedding, inputTextTokenCount: tokens }, context) =>
    isJsonArray(embedding)
      ? vectorList([embedding], context, typeof tokens === 'number' ? tokens : undefined)
      : undefined,
}

function formOf(model: JsonValue | undefined): FormRewrite {
  return typeof model === 'string' && OF_AMAZON.test(model) ? titan : cohereVectors
}

const rewrite: FormRewrite = {
  refuses: ({ model, input }) =>
    formOf(model) === titan && isJsonArray(input) && input.length !== 1
      ? 'input: this vendor’s model embeds one text a call: send one, or a call for each'
      : undefined,
  request: (asked) => formOf(asked['model']).request(asked),
  answer: (body, context) => formOf(context['model']).answer(body, context),
}

export const bedrockEmbeddings: PassedDialect = invoked('embeddings', rewrite, {
  textPurpose: COHERE_PURPOSE,
})
