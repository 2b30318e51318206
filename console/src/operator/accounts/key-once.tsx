import { Button } from '@mantine/core'
import type { MadeKey } from '../../api/operator/accounts.ts'
import { Dialog } from '../../parts/forms/dialog.tsx'
import form from '../../parts/forms/form.module.css'
import { Note } from '../../parts/page/problem.tsx'
import { CopyButton } from '../../parts/snippets/copy-button.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** The secret of a customer's key, shown once, to be passed on to them. */
export function KeyOnce({ of, onClose }: { readonly of: MadeKey; readonly onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Dialog
      title={t('keys.readyTitle', { name: of.name })}
      size={640}
      closeOnClickOutside={false}
      onClose={onClose}
    >
      <div className={form.stack}>
        <div className={form.once}>
          <code>{of.key}</code>
          <CopyButton variant="filled" value={of.key} label={t('keys.copyKey')} />
        </div>
        <Note>{t('accounts.keyOnce')}</Note>
        <div className={form.foot}>
          <Button onClick={onClose}>{t('keys.saved')}</Button>
        </div>
      </div>
    </Dialog>
  )
}
