/** What leaves the machine or is kept beside the database: files, mail, messages to phones. */
import type { Config } from '../../config/environment.ts'
import { verifyMailServer } from '../../notify/mail/verify-smtp.ts'
import { openPhoneSender } from '../../notify/sms/open-phone-sender.ts'
import { openBlobs } from '../../storage/open-blobs.ts'
import { PING_PATIENCE_MS } from '../../storage/stores/blobs.ts'
import { openUpstream } from '../../upstream/send.ts'
import { failed, type Finding, ok, warning, wordsOf } from './finding.ts'

/** Writes, reads and removes a small file. */
export async function checkBlobs({ blob }: Pick<Config, 'blob'>, now: () => number): Promise<Finding> {
  const place = blob.kind === 'disk' ? blob.directory : 'the store of SLUICE_BLOB_URL'
  try {
    const store = await openBlobs(blob, now)
    try {
      await store.ping(AbortSignal.timeout(PING_PATIENCE_MS))
    } finally {
      await store.close()
    }
    return ok('stored files', `${place} can be written and read`)
  } catch (error) {
    const fix =
      blob.kind === 'disk'
        ? 'let this user write there'
        : 'check SLUICE_BLOB_URL and its credentials: putting, reading and deleting must be allowed'
    return failed('stored files', `${place}: ${wordsOf(error)}`, `${fix}; videos need it, all else goes on`)
  }
}

export async function checkMail({ smtpUrl }: Pick<Config, 'smtpUrl'>): Promise<Finding> {
  if (smtpUrl === undefined)
    return warning(
      'mail',
      'not configured',
      'set SLUICE_SMTP_URL and SLUICE_MAIL_FROM; until then what would be mailed is printed to the log',
    )
  try {
    await verifyMailServer(smtpUrl)
    return ok('mail', 'the server accepts the sign-in')
  } catch (error) {
    return failed('mail', wordsOf(error), 'check SLUICE_SMTP_URL: host, port, user and password')
  }
}

/** Only its form: every message costs. */
export async function checkPhone({ smsUrl }: Pick<Config, 'smsUrl'>, now: () => number): Promise<Finding> {
  if (smsUrl === undefined)
    return warning(
      'phone messages',
      'not configured',
      'set SLUICE_SMS_URL to sign people in by phone; until then codes are printed to the log',
    )
  const upstream = openUpstream()
  try {
    await openPhoneSender(smsUrl, { upstream, now }).close()
    return ok('phone messages', 'configured; no message was sent')
  } catch (error) {
    return failed('phone messages', wordsOf(error), 'check SLUICE_SMS_URL')
  } finally {
    await upstream.close()
  }
}
