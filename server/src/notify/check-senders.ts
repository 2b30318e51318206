/**
 * Checks whether messages can be sent: the mail server by signing in, the service for phones by its configuration only.
 */
import { finding, type RunningFinding } from '../core/running-finding.ts'
import type { Secret } from '../core/secret.ts'
import { openUpstream } from '../upstream/send.ts'
import { verifyMailServer } from './mail/verify-smtp.ts'
import { openPhoneSender } from './sms/open-phone-sender.ts'

export async function checkMail({
  smtpUrl,
}: {
  readonly smtpUrl: Secret | undefined
}): Promise<RunningFinding> {
  if (smtpUrl === undefined) return finding('mail-absent', {})
  try {
    await verifyMailServer(smtpUrl)
    return finding('mail-good', {})
  } catch (error) {
    return finding('mail-bad', { words: wordsOf(error) })
  }
}

/** Checks the configuration only, because every message costs money. */
export async function checkPhone(
  { smsUrl }: { readonly smsUrl: Secret | undefined },
  now: () => number,
): Promise<RunningFinding> {
  if (smsUrl === undefined) return finding('phone-absent', {})
  const upstream = openUpstream()
  try {
    await openPhoneSender(smsUrl, { upstream, now }).close()
    return finding('phone-good', {})
  } catch (error) {
    return finding('phone-bad', { words: wordsOf(error) })
  } finally {
    await upstream.close()
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
