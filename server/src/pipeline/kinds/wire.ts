/**
 * What the pipeline knows about each wire form of clients and upstreams: how its requests and answers are read as they
 * pass. Protocols also have a codec; forms that are passed on unchanged have none.
 */
import { isPassedForm, type PassedFormId, type WireId } from '../../core/catalogue.ts'
import type { UpstreamError } from '../../core/canonical/response.ts'
import type { JsonValue } from '../../core/json.ts'
import { ANSWER_FORMS, type AnswerForm } from '../../core/passthrough/answers/compiled-answers.ts'
import { type Break, BREAKS, PASSED_BREAK } from '../../core/passthrough/breaks.ts'
import { REQUEST_FORMS, type RequestForm } from '../../core/passthrough/requests/request-form.ts'
import { readErrorBody } from '../../core/protocols/error-body.ts'
import { protocolOf } from '../../core/protocols/index.ts'
import { KINDS } from './index.ts'
import type { PassedForm } from './kind.ts'

export interface WireForm {
  readonly requests: RequestForm
  readonly answers: AnswerForm
  readonly breaks: Break
  /** An upstream's non-2xx body, or an error inside a 200, in canonical form. */
  readonly decodeError: (status: number | undefined, body: JsonValue) => UpstreamError
  /**
   * Headers of its clients that change what a request means, lower case: they are forwarded to an upstream of the same
   * form.
   */
  readonly forwardedHeaders: readonly string[]
}

export function wireOf(id: WireId): WireForm {
  if (isPassedForm(id)) {
    const { requests, answers } = passedForm(id)
    return { requests, answers, breaks: PASSED_BREAK, decodeError: readErrorBody, forwardedHeaders: [] }
  }
  const { decodeError, forwardedHeaders } = protocolOf(id)
  return {
    requests: REQUEST_FORMS[id],
    answers: ANSWER_FORMS[id],
    breaks: BREAKS[id],
    decodeError,
    forwardedHeaders,
  }
}

/** Its calls have sound files: `explain`, which gets no file, asks for their duration. */
export function listensTo(id: WireId): boolean {
  return isPassedForm(id) && passedForm(id).listens === true
}

export function passedForm(id: PassedFormId): PassedForm {
  const form = KINDS.find((kind) => kind.form?.id === id)?.form
  if (form === undefined) throw new Error(`no kind of endpoint passes ${id} on`)
  return form
}
