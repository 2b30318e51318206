import { Button } from '@mantine/core'
import type { Alert } from '../../api/alerts.ts'
import { usePerson } from '../../api/session.ts'
import { Dialog } from '../../parts/forms/dialog.tsx'
import form from '../../parts/forms/form.module.css'
import { Facts } from '../../parts/lists/facts.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import { useFormat } from '../../parts/values/format.ts'
import styles from './receipt-dialog.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** A receipt for printing; nothing else of the page is printed. */
export function ReceiptDialog({
  of: { data, raised_at: at },
  onClose,
}: {
  readonly of: Alert
  readonly onClose: () => void
}) {
  const { t } = useTranslation()
  const format = useFormat()
  const { name, email, phone } = usePerson()
  return (
    <Dialog title={t('wallet.receipt')} onClose={onClose} classNames={{ content: styles.paper ?? '' }}>
      <div className={form.stack}>
        <Facts
          rows={[
            [t('wallet.bought'), String(data['item'] ?? '–')],
            [t('wallet.price'), String(data['paid'] ?? '–')],
            [t('wallet.paidAt'), format.moment(at)],
            [t('wallet.paidBy'), name ?? email ?? phone ?? '–'],
            [t('wallet.reference'), String(data['reference'] ?? '–'), 'code'],
            [t('wallet.paidTo'), window.location.host],
          ]}
        />
        <div className={form.foot}>
          <Button
            data-unprinted
            leftSection={<Icon name="export" size={14} />}
            onClick={() => window.print()}
          >
            {t('wallet.print')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
