/** Whether messages can leave: the mail server by a sign-in, the service for phones by its form. */
import { failed, type Finding, ok, warning } from '../core/finding.ts'
import type { Secret } from '../core/secret.ts'
import { openUpstream } from '../upstream/send.ts'
import { verifyMailServer } from './mail/verify-smtp.ts'
import { openPhoneSender } from './sms/open-phone-sender.ts'

export async function checkMail({ smtpUrl }: { readonly smtpUrl: Secret | undefined }): Promise<Finding> {
  if (smtpUrl === undefined)
    return warning(
      'mail',
      'not configured',
      'set SLUICE_SMTP_URL and SLUICE_MAIL_FROM; until then mails are printed to the log',
    )
  try {
    await verifyMailServer(smtpUrl)
    return ok('mail', 'the server accepts the sign-in')
  } catch (error) {
    return failed('mail', wordsOf(error), 'check SLUICE_SMTP_URL: host, port, user and password')
  }
}

/** Only its form: every message costs. */
export async function checkPhone(
  { smsUrl }: { readonly smsUrl: Secret | undefined },
  now: () => number,
): Promise<Finding> {
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

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
