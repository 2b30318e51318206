/** InvokeModel: each model in its maker's own form, its name in the path, failures by a header. */
import type { PassedFormId } from '../../core/catalogue.ts'
import {
  classifyFailure,
  type FailureClass,
  type FailureWords,
  type UpstreamFailure,
  withHint,
} from '../../core/routing/failure.ts'
import { passedDialect } from '../dialects/passed.ts'
import {
  below,
  filledAddress,
  type FormedRequest,
  type FormInput,
  type FormRewrite,
  type PassedDialect,
} from '../provider.ts'

export const AUTH = { kind: 'aws-sigv4', service: 'bedrock' } as const

export const WORDS: FailureWords = {
  throttlingexception: 'rate-limited',
  servicequotaexceededexception: 'rate-limited',
  modelnotreadyexception: 'overloaded',
  modeltimeoutexception: 'overloaded',
  modelerrorexception: 'overloaded',
  modelstreamerrorexception: 'overloaded',
  serviceunavailableexception: 'overloaded',
  internalserverexception: 'overloaded',
  accessdeniedexception: 'auth',
  unrecognizedclientexception: 'auth',
  resourcenotfoundexception: 'not-found',
  validationexception: 'request',
}

/** Counting has another form and is left to the gateway. */
export function formInvoke(input: FormInput): FormedRequest | undefined {
  return formVerb(input, input.operation === 'stream' ? 'invoke-with-response-stream' : 'invoke')
}

function formVerb(input: FormInput, verb: string): FormedRequest | undefined {
  const base = filledAddress(input.baseUrl, input.fields)
  if (base === undefined || input.operation === 'count-tokens') return undefined
  const url = below(base, `/model/${encodeURIComponent(input.forwardModelId)}/${verb}`)
  return { method: 'POST', url, headers: { accept: 'application/json' } }
}

/** The body holds only a sentence; the kind of failure is in a header: `ThrottlingException:http://…`. */
export function classifyInvoke(failure: UpstreamFailure): FailureClass {
  const [type = ''] = String(failure.headers['x-amzn-errortype'] ?? '').split(/[:#]/)
  const kind = WORDS[type.trim().toLowerCase()]
  return kind === undefined ? classifyFailure(failure, WORDS) : withHint(kind, failure)
}

/** Of a form that nothing streams: answers are whole documents, whatever was asked for. */
export function invoked(
  protocol: PassedFormId,
  rewrite: FormRewrite,
  more: Partial<PassedDialect> = {},
): PassedDialect {
  return {
    ...passedDialect({ protocol, path: '', auth: AUTH, classify: classifyInvoke, rewrite }),
    ...more,
    modelPlace: 'path',
    form: (input) => formVerb(input, 'invoke'),
  }
}
