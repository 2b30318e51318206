/** Wire forms that are passed on as they are, as most vendors serve them: below the base address, with a bearer key. */
import type { PassedFormId } from '../../core/catalogue.ts'
import type { Auth } from '../../core/http-request.ts'
import { classifyFailure, type FailureWords } from '../../core/routing/failure.ts'
import { below, type PassedDialect } from '../provider.ts'

export interface PassedDialectDescription {
  readonly protocol: PassedFormId
  /** Below the base address. */
  readonly path: string
  readonly auth?: Auth
  readonly words?: FailureWords
}

export function passedDialect({ protocol, path, auth, words }: PassedDialectDescription): PassedDialect {
  return {
    protocol,
    auth: auth ?? { kind: 'bearer' },
    modelPlace: 'body',
    form: ({ baseUrl, operation }) =>
      operation === 'count-tokens' ? undefined : { method: 'POST', url: below(baseUrl, path), headers: {} },
    classify: (failure) => classifyFailure(failure, words),
  }
}
