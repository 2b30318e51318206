/** Other forms over `:generateContent`: what Gemini models make besides text. */
import { isJsonArray } from '../../../core/canonical/json-text.ts'
import type { PassedFormId } from '../../../core/catalogue.ts'
import type { Auth } from '../../../core/http-request.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import type { FormInput, FormRewrite, PassedDialect } from '../../provider.ts'
import { passedDialect } from '../passed.ts'

/** The address of models, and the authentication. */
export interface GeminiPlace {
  readonly auth: Auth
  /** Without a verb. undefined: the credential lacks a field. */
  readonly modelUrl: (input: FormInput) => string | undefined
}

/** What a candidate consists of. */
export function partsOf(candidate: JsonValue | undefined): readonly JsonObject[] {
  const content = isJsonObject(candidate) ? candidate['content'] : undefined
  const parts = isJsonObject(content) ? content['parts'] : undefined
  return isJsonArray(parts) ? parts.filter(isJsonObject) : []
}

export function generating(
  protocol: PassedFormId,
  rewrite: FormRewrite,
  { auth, modelUrl }: GeminiPlace,
): PassedDialect {
  return {
    ...passedDialect({ protocol, path: '', auth, rewrite }),
    modelPlace: 'path',
    form: (input) => {
      const url = input.operation === 'count-tokens' ? undefined : modelUrl(input)
      return url === undefined ? undefined : { method: 'POST', url: `${url}:generateContent`, headers: {} }
    },
  }
}
