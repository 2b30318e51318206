/** Other forms over `:generateContent`: what Gemini models make beside text. */
import type { PassedFormId } from '../../core/catalogue.ts'
import type { Auth } from '../../core/http-request.ts'
import type { FormInput, FormRewrite, PassedDialect } from '../provider.ts'
import { passedDialect } from './passed.ts'

/** Where models lie, and who may call them. */
export interface GeminiPlace {
  readonly auth: Auth
  /** Without a verb. undefined: the credential does not say enough. */
  readonly modelUrl: (input: FormInput) => string | undefined
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
