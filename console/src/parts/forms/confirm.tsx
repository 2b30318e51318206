import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { FormProblem } from '../page/problem.tsx'
import { useProblemText } from '../page/use-problem.ts'
import { Dialog } from './dialog.tsx'
import form from './form.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

interface ConfirmProps {
  readonly title: string
  /** What the action destroys or changes. */
  readonly children: ReactNode
  /** The label of the button: a verb. */
  readonly action: string
  readonly danger?: boolean
  /** False: the fields above are not complete yet. */
  readonly ready?: boolean
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

/** Asks for confirmation of an action that cannot be undone, and names what it affects. */
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
