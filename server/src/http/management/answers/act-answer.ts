import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { JsonObject } from '../../../core/json.ts'

/** The outcome of an operation of `management/`. */
export type Acted<Refusal> =
  | { readonly kind: 'done'; readonly answer: JsonObject }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'other-request' }
  | { readonly kind: 'no-account' }

/** The answer of a successful operation; every other outcome is thrown as its error. */
export function answerOf<Refusal>(
  outcome: Acted<Refusal>,
  refuse: (refusal: Refusal) => GatewayError,
): JsonObject {
  switch (outcome.kind) {
    case 'done':
      return outcome.answer
    case 'refused':
      throw refuse(outcome.refusal)
    case 'other-request':
      throw new GatewayError(40004)
    case 'no-account':
      throw new GatewayError(40403)
  }
}
