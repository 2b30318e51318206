/** The common part of the dialects of OpenAI's two protocols: a vendor declares only its differences. */
import type { CanonicalRequest } from '../../core/canonical/request.ts'
import type { Auth } from '../../core/http-request.ts'
import type { ForwardModelId } from '../../core/ids.ts'
import type { Capabilities } from '../../core/protocols/protocol.ts'
import {
  classifyFailure,
  type FailureClass,
  type FailureWords,
  type UpstreamFailure,
} from '../../core/routing/failure.ts'
import { below, type Dialect, type FormInput, type FormedRequest } from '../provider.ts'

export interface OpenAiDialectDescription {
  readonly auth?: Auth
  /** Set if the address is not the base address and the protocol's own path. */
  readonly form?: (input: FormInput) => FormedRequest | undefined
  readonly capabilities?: (model: ForwardModelId) => Partial<Capabilities>
  readonly words?: FailureWords
  readonly classify?: (failure: UpstreamFailure) => FailureClass
  readonly adapt?: (request: CanonicalRequest) => CanonicalRequest
  readonly background?: true
}

export interface OpenAiProtocol {
  readonly protocol: 'chat' | 'responses'
  /** Path below the base address. */
  readonly path: string
  readonly capabilities: Capabilities
}

export function openAiDialect(own: OpenAiProtocol, vendor: OpenAiDialectDescription): Dialect {
  const { words } = vendor
  return {
    protocol: own.protocol,
    auth: vendor.auth ?? { kind: 'bearer' },
    modelPlace: 'body',
    form: vendor.form ?? ((input) => formAt(own.path, input)),
    capabilities: (model) => ({ ...own.capabilities, ...vendor.capabilities?.(model) }),
    classify: vendor.classify ?? ((failure) => classifyFailure(failure, words)),
    ...(vendor.adapt === undefined ? {} : { adapt: vendor.adapt }),
    ...(vendor.background === undefined ? {} : { background: vendor.background }),
  }
}

function formAt(path: string, input: FormInput): FormedRequest | undefined {
  if (input.operation === 'count-tokens') return undefined
  return { method: 'POST', url: below(input.baseUrl, path), headers: {} }
}
