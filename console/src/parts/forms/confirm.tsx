import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { FormProblem } from '../page/problem.tsx'
import { useProblemText } from '../page/use-problem.ts'
import { Dialog } from './dialog.tsx'
import form from './form.module.css'

interface ConfirmProps {
  readonly title: string
  /** What will be gone. */
  readonly children: ReactNode
  /** The verb on the button. */
  readonly action: string
  readonly danger?: boolean
  /** False: what is above is not complete yet. */
  readonly ready?: boolean
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

/** Asks before something is done that cannot be taken back, and says what it is. */
export function Confirm({
  title,
  children,
  action,
  danger = true,
  ready = true,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  return (
    <Dialog onClose={onClose} title={title}>
      <div className={form.stack}>
        <div className={form.words}>{children}</div>
        <FormProblem text={confirm.error === null ? undefined : problemText(confirm.error)} />
        <div className={form.foot}>
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('cancel')}
          </Button>
          <Button
            data-danger={danger || undefined}
            loading={confirm.isPending}
            disabled={!ready}
            onClick={() => confirm.mutate()}
          >
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
