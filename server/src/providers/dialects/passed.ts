/** Wire forms that are passed on unchanged, as most vendors serve them: below the base address, with a bearer key. */
import type { PassedFormId } from '../../core/catalogue.ts'
import type { Auth } from '../../core/http-request.ts'
import { classifyFailure, type FailureWords } from '../../core/routing/failure.ts'
import { below as addressBelow, type FormRewrite, type PassedDialect, type TextPurpose } from '../provider.ts'

export interface PassedDialectDescription {
  readonly protocol: PassedFormId
  /** Path below the base address. */
  /** Or a function of the path that the client called, if the form has several. */
  readonly path: string | ((calledPath: string | undefined) => string)
  readonly auth?: Auth
  readonly words?: FailureWords
  /** Set if failures cannot be classified by words alone. */
  readonly classify?: PassedDialect['classify']
  readonly rewrite?: FormRewrite
  /** For embeddings: see `PassedDialect.textPurpose`. */
  readonly textPurpose?: TextPurpose
  /** The client paths that it supports, if its form has several; absent: all. */
  readonly paths?: readonly string[]
}

export function passedDialect(description: PassedDialectDescription): PassedDialect {
  const { protocol, path, auth, words, classify, rewrite, textPurpose, paths } = description
  return {
    protocol,
    auth: auth ?? { kind: 'bearer' },
    modelPlace: 'body',
    form: ({ baseUrl, operation, calledPath }) => {
      if (operation === 'count-tokens') return undefined
      const below = typeof path === 'string' ? path : path(calledPath)
      return { method: 'POST', url: addressBelow(baseUrl, below), headers: {} }
    },
    classify: classify ?? ((failure) => classifyFailure(failure, words)),
    ...(rewrite === undefined ? {} : { rewrite }),
    ...(textPurpose === undefined ? {} : { textPurpose }),
    ...(paths === undefined ? {} : { paths }),
  }
}
