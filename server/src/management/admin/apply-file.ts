/** A gateway file sent in a request: previewed first, then applied exactly as previewed. */
import { say } from '../../core/sentences/say.ts'
import { createHash } from 'node:crypto'
import type { Mistake } from '../../config/gateway-file/file-node.ts'
import {
  applyGatewayFile,
  applyReviewedGatewayFile,
  type ApplyResult,
} from '../gateway-file/apply-gateway-file.ts'
import type { NewKey } from '../gateway-file/write-account.ts'
import type { Difference } from '../gateway-file/difference.ts'
import { type Actor, type AdminParts, done, type Done, fileMistake } from './acts.ts'

export interface FileRequest {
  readonly text: string
  /** What happens to rows missing from its sections: kept, or switched off. */
  readonly missing: 'stays' | 'prune'
}

export interface FileReview {
  readonly differences: readonly Difference[]
  readonly warnings: readonly Mistake[]
  /** Identifies this file and exactly these differences. */
  readonly review: string
  /** Keys created by applying it, which can only be shown now. */
  readonly newKeys: readonly NewKey[]
}

/** What applying the file would change. */
export async function reviewFile(
  parts: AdminParts,
  request: FileRequest,
  actor: Actor,
): Promise<Done<FileReview>> {
  const result = await applyGatewayFile(parts.storage, {
    ...optionsOf(parts, request, actor),
    mode: 'dry-run',
  })
  return viewResult(result, request)
}

/** Refused if other changes would be made than those previewed. */
export async function applyReviewedFile(
  parts: AdminParts,
  request: FileRequest & { readonly review: string },
  actor: Actor,
): Promise<Done<FileReview>> {
  const result = await applyReviewedGatewayFile(parts.storage, {
    ...optionsOf(parts, request, actor),
    isAsReviewed: (differences) => reviewOf(request, differences) === request.review,
  })
  if (result.kind !== 'planned') return viewResult(result, request)
  return {
    kind: 'conflict',
    message: say('difference-changed'),
  }
}

/** A sent file must not read the process's environment: `${NAME}` in it is a mistake. */
function optionsOf(
  { storage: _storage, ...parts }: AdminParts,
  { text, missing }: FileRequest,
  actor: Actor,
) {
  return { ...parts, text, missing, environment: {}, at: actor.at, actor }
}

function viewResult(result: ApplyResult, request: FileRequest): Done<FileReview> {
  if (result.kind === 'mistakes') return { kind: 'mistakes', mistakes: result.mistakes.map(fileMistake) }
  const { differences, warnings, newKeys } = result
  return done({ differences, warnings, newKeys, review: reviewOf(request, differences) })
}

/** Includes the text, because secrets are part of it but not of any difference. */
function reviewOf({ text, missing }: FileRequest, differences: readonly Difference[]): string {
  return createHash('sha256')
    .update(JSON.stringify([text, missing, differences]))
    .digest('base64url')
}
