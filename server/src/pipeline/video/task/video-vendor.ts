/** The vendor of one chain's video API, with its credential. */
import type { Catalogue, Chain, CredentialSecret } from '../../../core/catalogue.ts'
import type { AccountId, CredentialId, ForwardModelId, VendorCode } from '../../../core/ids.ts'
import type { JsonObject } from '../../../core/json.ts'
import { providerOf } from '../../../providers/index.ts'
import type { VideoContext, VideoDialect } from '../../../providers/video.ts'
import { readPublicFields } from '../../../upstream/credentials/auth.ts'
import type { Pipeline } from '../../context.ts'
import type { TaskVendor } from './task-dialect.ts'

export interface VideoVendor extends TaskVendor {
  readonly dialect: VideoDialect
}

export type FoundVendor =
  | ({ readonly kind: 'found' } & VideoVendor)
  | { readonly kind: 'missing'; readonly reason: string }

export interface VendorQuestion {
  readonly vendorCode: VendorCode
  readonly credentialId: CredentialId | undefined
  /** With the account's own credential. */
  readonly byok: boolean
  readonly accountId: AccountId
}

/** From the present catalogue: a task may outlive the catalogue it was created with. */
export async function findVideoVendor(
  pipeline: Pick<Pipeline, 'catalogue' | 'directory'>,
  question: VendorQuestion,
): Promise<FoundVendor> {
  const catalogue = pipeline.catalogue()
  const vendor = catalogue.vendors.get(question.vendorCode)
  const provider = vendor === undefined ? undefined : providerOf(vendor.kind)
  const dialect = provider?.video
  if (vendor === undefined || provider === undefined || dialect === undefined)
    return { kind: 'missing', reason: 'no video vendor' }
  const secret = await secretOf(pipeline, question)
  if (secret === undefined)
    return { kind: 'missing', reason: question.byok ? 'own credential removed' : 'no credential' }
  const baseUrl = vendor.baseUrl ?? provider.defaultBaseUrl
  if (baseUrl === undefined) return { kind: 'missing', reason: 'no address' }
  return {
    kind: 'found',
    vendor,
    dialect,
    secret,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    fields: readPublicFields(secret, provider.publicFields),
  }
}

/** The state machine of a chain's vendor; undefined: its vendor kind makes no videos. */
export function videoDialectOf(chain: Chain, catalogue: Catalogue): VideoDialect | undefined {
  const kind = catalogue.vendors.get(chain.vendorCode)?.kind
  return kind === undefined ? undefined : providerOf(kind)?.video
}

export function contextOf(
  vendor: TaskVendor,
  task: {
    readonly id: string
    readonly state: JsonObject
    readonly forwardModelId: ForwardModelId
  },
): VideoContext {
  return {
    baseUrl: vendor.baseUrl,
    fields: vendor.fields,
    forwardModelId: task.forwardModelId,
    taskId: task.id,
    state: task.state,
  }
}

/** The credential a task belongs to; undefined: it was removed. */
export async function secretOf(
  pipeline: Pick<Pipeline, 'catalogue' | 'directory'>,
  question: Pick<VendorQuestion, 'vendorCode' | 'credentialId' | 'byok' | 'accountId'>,
): Promise<CredentialSecret | undefined> {
  if (question.byok) return (await pipeline.directory.byok(question.accountId)).get(question.vendorCode)
  const { credentialId } = question
  return credentialId === undefined ? undefined : pipeline.catalogue().credentials.get(credentialId)?.secret
}
