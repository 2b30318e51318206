import { Skeleton, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { beginTotp, confirmTotp } from '../../api/access.ts'
import { Dialog } from '../../parts/forms/dialog.tsx'
import forms from '../../parts/forms/form.module.css'
import { FormFrame } from '../../parts/forms/form-frame.tsx'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { late } from '../../parts/page/late.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import { CopyIcon } from '../../parts/snippets/copy-button.tsx'
import styles from '../settings.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** The QR code is generated in the page, so that the secret is sent nowhere. */
const QrCode = late(async () => (await import('qrcode.react')).QRCodeSVG)
const QR_PX = 184

interface TotpDialogProps {
  readonly onClose: () => void
  readonly onAdded: (codes: readonly string[]) => void
}

/** Sets up an authenticator app: the secret, and its first code. */
export function TotpDialog({ onClose, onAdded }: TotpDialogProps) {
  const { t } = useTranslation()
  // Requested only once: every request creates a new secret.
  const [openedAt] = useState(() => Date.now())
  const begun = useQuery({
    queryKey: ['totp', openedAt],
    queryFn: () => beginTotp(),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  })
  return (
    <Dialog onClose={onClose} title={t('settings.addApp')} closeOnClickOutside={false}>
      <Loaded query={begun} height={220}>
        {({ secret, otpauth_url: address }) => (
          <div className={forms.stack}>
            <p className={forms.words}>{t('settings.appText')}</p>
            <Suspense fallback={<Skeleton height={QR_PX} width={QR_PX} mx="auto" />}>
              <QrCode
                value={address}
                size={QR_PX}
                marginSize={4}
                title={t('settings.qrCode')}
                className={styles.qr ?? ''}
              />
            </Suspense>
            <div className={forms.once}>
              <code>{secret.replace(/(.{4})/g, '$1 ').trim()}</code>
              <CopyIcon value={secret} label={t('settings.copySecret')} />
            </div>
            <a className={page.link} href={address}>
              {t('settings.openApp')}
            </a>
            <ConfirmForm onClose={onClose} onAdded={onAdded} />
          </div>
        )}
      </Loaded>
    </Dialog>
  )
}

function ConfirmForm({ onClose, onAdded }: TotpDialogProps) {
  const { t } = useTranslation()
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (text) => (/^\d{6}$/.test(text) ? null : t('signIn.codeWanted')) },
  })
  const { submit, isPending, problem } = useSubmit(form, {
    send: ({ code }) => confirmTotp(code),
    onDone: ({ recovery_codes: codes }) => onAdded(codes),
    fields: { 40005: { field: 'code', text: t('settings.codeWrong') } },
  })
  return (
    <FormFrame sending={{ submit, isPending, problem }} action={t('settings.confirmApp')} onClose={onClose}>
      <TextInput
        label={t('signIn.totpCode')}
        autoComplete="one-time-code"
        inputMode="numeric"
        maxLength={6}
        {...form.getInputProps('code')}
      />
    </FormFrame>
  )
}
