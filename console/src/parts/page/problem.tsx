import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { Icon } from '../marks/icon.tsx'
import { CopyIcon } from '../snippets/copy-button.tsx'
import parts from './parts.module.css'
import { useProblemText } from './use-problem.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface ProblemProps {
  readonly error: unknown
  readonly onRetry?: () => void
}

/** Shown in place of content that could not be loaded. */
export function Problem({ error, onRetry }: ProblemProps) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <div className={parts.problem} role="alert">
      <span className={parts.bad}>
        <Icon name="failed" size={20} />
      </span>
      <p>{problemText(error)}</p>
      {requestId !== undefined && (
        <p className={parts.requestId}>
          {t('requestId')} <code>{requestId}</code>
          <CopyIcon value={requestId} label={t('copyId')} size="sm" />
        </p>
      )}
      {onRetry !== undefined && (
        <Button variant="default" onClick={onRetry} leftSection={<Icon name="rotate" size={14} />}>
          {t('tryAgain')}
        </Button>
      )}
    </div>
  )
}

/** An error of a form that belongs to no field. */
export function FormProblem({ text }: { readonly text: string | undefined }) {
  return (
    <div role="alert">
      {text !== undefined && (
        <p className={parts.formProblem}>
          <Icon name="failed" size={14} />
          <span>{text}</span>
        </p>
      )}
    </div>
  )
}

interface NoteProps {
  readonly tone?: 'warning' | 'bad' | 'info'
  readonly children: ReactNode
  readonly action?: ReactNode
}

export function Note({ tone = 'warning', children, action }: NoteProps) {
  return (
    <div className={parts.note} data-tone={tone}>
      <Icon name={tone === 'info' ? 'info' : 'warning'} />
      <div className={parts.grow}>{children}</div>
      {action}
    </div>
  )
}
