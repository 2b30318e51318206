import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { Confirm } from '../../parts/forms/confirm.tsx'
import form from '../../parts/forms/form.module.css'
import { Marked } from '../../parts/marks/marked.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

interface ReasonDialogProps {
  readonly title: string
  /** What will happen; `<b>…</b>` marks what matters. */
  readonly text: string
  /** The verb on the button. */
  readonly action: string
  readonly danger?: boolean
  /** The reason is optional. */
  readonly optional?: boolean
  readonly onConfirm: (reason: string) => Promise<unknown>
  readonly onClose: () => void
}

/** Asks for a reason before an action that is recorded in the audit log. */
export function ReasonDialog({
  title,
  text,
  action,
  danger = false,
  optional = false,
  onConfirm,
  onClose,
}: ReasonDialogProps) {
  const { t } = useTranslation()
  const [reason, setReason] = useState('')
  return (
    <Confirm
      title={title}
      action={action}
      danger={danger}
      ready={optional || reason.trim() !== ''}
      onConfirm={() => onConfirm(reason.trim())}
      onClose={onClose}
    >
      <div className={form.stack}>
        <p>
          <Marked text={text} />
        </p>
        <Textarea
          label={t('operate.reason')}
          description={t(optional ? 'operate.reasonOptional' : 'operate.reasonHint')}
          maxLength={500}
          autosize
          minRows={2}
          value={reason}
          onChange={({ currentTarget: { value } }) => setReason(value)}
        />
      </div>
    </Confirm>
  )
}
