/**
 * Tasks: videos, and background responses. Their end is written by `calls.settle` and `calls.abandon`, with the charge
 * and the log row in one transaction.
 */
import type { AccountId, ChainId, InstanceId, KeyId, ModelId } from '../../core/ids.ts'
import type { TaskKind, VideoStatus, VideoTask, VideoTaskPatch } from '../../core/video/task.ts'

export type VideoCreation =
  | { readonly kind: 'created' }
  /** This idempotency key of this API key already belongs to that task. */
  | { readonly kind: 'joined'; readonly task: VideoTask }
  | { readonly kind: 'other-body' }

export interface VideoStore {
  /**
   * Writes the intent, leased to this instance. `idempotency` holds per API key, for as long as the task is kept:
   * parallel creations with one key make one task. Rejects with `StorageUnavailable` if the task's open call is not
   * this instance's any more (the instance was considered dead, and its call was ended).
   */
  create(
    task: VideoTask,
    idempotency: { readonly key: string; readonly bodySha256: string } | undefined,
    lease: { readonly instance: InstanceId; readonly until: number },
  ): Promise<VideoCreation>
  /** The task of an idempotency key of this API key, looked up before anything is reserved. */
  findByIdempotency(
    keyId: KeyId,
    idempotency: { readonly key: string; readonly bodySha256: string },
  ): Promise<Extract<VideoCreation, { kind: 'joined' | 'other-body' }> | undefined>
  /** The newest task of this API key with this body, not older than `since`: created by a POST whose answer was lost. */
  findByBody(
    keyId: KeyId,
    body: { readonly bodySha256: string; readonly since: number },
  ): Promise<VideoTask | undefined>
  /**
   * Only if `instance` still holds the lease; false: another instance does, or the task has ended or was removed.
   * Announces `video` if it changes what a client may see. A task ends through `calls.settle` or `calls.abandon`, never
   * here.
   */
  patch(id: string, patch: VideoTaskPatch, instance: InstanceId): Promise<boolean>
  /** Also undefined for another API key's task, and for a task that is not a video. */
  find(id: string, keyId: KeyId): Promise<VideoTask | undefined>
  /** Reads a task of any key: for pollers, signed links and operators. */
  read(id: string): Promise<VideoTask | undefined>
  /** By time of creation. Rejects with `InvalidCursor` if `after` is not a task of the filter's key. */
  list(filter: {
    /** Absent: every kind. */
    readonly kind?: TaskKind
    readonly keyId?: KeyId
    readonly accountId?: AccountId
    readonly modelId?: ModelId
    readonly chainId?: ChainId
    readonly status?: VideoStatus
    /** Only tasks that have not ended. */
    readonly open?: boolean
    readonly limit: number
    /** Id of the last task of the previous page. */
    readonly after: string | undefined
    readonly order: 'asc' | 'desc'
    readonly notExpiredAt?: number
  }): Promise<readonly VideoTask[]>
  /**
   * Leases due tasks without a valid lease, including this instance's own, at most `limit`; their open calls move to
   * this instance, so that its heartbeat renews their slots and recovery does not end them.
   */
  lease(options: {
    readonly instance: InstanceId
    readonly at: number
    readonly until: number
    readonly limit: number
  }): Promise<readonly VideoTask[]>
  /** An instance that stops cleanly releases its tasks to the others at once. */
  release(instance: InstanceId): Promise<void>
  /**
   * Moves an open task's `dueAt` forward, whichever instance holds it; that poller works on it at once. Announces
   * `video`. false: the task has ended or was removed.
   */
  repoll(id: string, at: number): Promise<boolean>
  /**
   * Earliest time this instance may have something to lease: `dueAt` of an open task, for a task another instance holds not
   * before that lease ends; undefined: none is open.
   */
  nextDue(): Promise<number | undefined>
  /**
   * Removes the record of an ended task; the caller has removed its blob before, because nothing would refer to it any
   * more.
   */
  remove(id: string, keyId: KeyId): Promise<boolean>
  /** Records that expired before `at` and have ended, the oldest first: their blobs are removed before them. */
  expired(at: number, limit: number): Promise<readonly ExpiredVideo[]>
  /** Removes those of these records that expired before `at` and have ended. */
  forget(ids: readonly string[], at: number): Promise<void>
}

export interface ExpiredVideo {
  readonly id: string
  readonly blob: string | undefined
}
