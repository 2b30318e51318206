/** Calls that a sandbox model answers with one document, in OpenAI's form. */
import type { JsonObject } from '../../core/json.ts'
import type { OfflineAnswer } from '../../core/offline-answer.ts'
import type { PassedFormId } from '../../core/catalogue.ts'
import { passedDialect } from '../dialects/passed.ts'
import type { OfflineRequest, PassedDialect } from '../provider.ts'
import { BODY_BYTES_MAX, json, parseBody } from './respond.ts'

export interface OneModel {
  readonly protocol: PassedFormId
  readonly path: string
  readonly model: string
  /** A document, or the mistake in the request. */
  readonly answer: (body: JsonObject, stamp: { readonly id: string; readonly createdAt: number }) => Answered
}

export type Answered = JsonObject | Mistake

/** Answered with 400. */
export class Mistake {
  readonly message: string
  readonly code: string

  constructor(message: string, code: string) {
    this.message = message
    this.code = code
  }
}

export function oneModel({ protocol, path, model, answer }: OneModel): PassedDialect {
  return {
    ...passedDialect({ protocol, path, auth: { kind: 'none' } }),
    respond: (request) => respond(request, { model, answer }),
  }
}

function respond(
  request: OfflineRequest,
  { model, answer }: Pick<OneModel, 'model' | 'answer'>,
): OfflineAnswer {
  const stamp = { id: request.id.replace(/[^A-Za-z0-9]/g, ''), createdAt: Math.floor(request.at / 1_000) }
  const refuse = (status: number, message: string, code: string): OfflineAnswer =>
    json(status, { error: { message, type: 'invalid_request_error', param: null, code } }, stamp)
  if (request.forwardModelId !== model)
    return refuse(404, `The sandbox has no model ${request.forwardModelId}.`, 'model_not_found')
  const length = request.body.reduce((sum, chunk) => sum + chunk.byteLength, 0)
  if (length > BODY_BYTES_MAX)
    return refuse(413, `The sandbox takes bodies of up to ${BODY_BYTES_MAX} bytes.`, 'request_too_large')
  const answered = answer(parseBody(request.body) ?? {}, stamp)
  return answered instanceof Mistake
    ? refuse(400, answered.message, answered.code)
    : json(200, answered, stamp)
}
