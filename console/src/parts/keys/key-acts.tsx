import { ActionIcon, Menu } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Confirm } from '../forms/confirm.tsx'
import { Icon } from '../marks/icon.tsx'
import { Marked } from '../marks/marked.tsx'
import { inBackground } from '../page/in-background.ts'
import { FormProblem } from '../page/problem.tsx'
import { useProblemText } from '../page/use-problem.ts'
import { RotateDialog } from './rotate-dialog.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

type Act = 'rotate' | 'disable' | 'delete'

interface ActedKey {
  readonly name: string
  readonly hint: string
  readonly status: string
}

/** The requests of the actions: the person's own keys and those of other accounts have different routes. */
interface Acts<Made> {
  readonly setStatus: (status: 'enabled' | 'disabled') => Promise<unknown>
  readonly remove: () => Promise<unknown>
  /** `overlap`: seconds for which the former secret keeps working. */
  readonly rotate: (overlap: number) => Promise<Made>
  /** Refreshes everything that shows the key. */
  readonly renew: () => Promise<unknown>
}

interface KeyActsProps<Made> {
  readonly of: ActedKey
  readonly acts: Acts<Made>
  /** An action beside the menu. */
  readonly atHand?: (ask: (act: Act) => void) => ReactNode
  readonly onEdit: () => void
  readonly onReady: (made: Made) => void
}

/** The actions of a key: a menu, with a confirmation before actions that cannot be undone. */
export function KeyActs<Made>({ of, acts, atHand, onEdit, onReady }: KeyActsProps<Made>) {
  const problemText = useProblemText()
  const [act, ask] = useState<Act>()
  const enable = useMutation({ mutationFn: () => acts.setStatus('enabled'), onSuccess: acts.renew })
  const close = (): void => ask(undefined)
  return (
    <>
      {atHand?.(ask)}
      <KeyMenu
        of={of}
        isPending={enable.isPending}
        onEdit={onEdit}
        onEnable={() => enable.mutate()}
        onAsk={ask}
      />
      <FormProblem text={enable.error === null ? undefined : problemText(enable.error)} />
      {act === 'rotate' && (
        <RotateDialog
          of={of}
          rotate={acts.rotate}
          onClose={close}
          onRotated={(made) => {
            close()
            inBackground(acts.renew())
            onReady(made)
          }}
        />
      )}
      {(act === 'disable' || act === 'delete') && <EndDialog act={act} of={of} acts={acts} onClose={close} />}
    </>
  )
}

interface KeyMenuProps {
  readonly of: ActedKey
  readonly isPending: boolean
  readonly onEdit: () => void
  readonly onEnable: () => void
  readonly onAsk: (act: Act) => void
}

function KeyMenu({ of, isPending, onEdit, onEnable, onAsk }: KeyMenuProps) {
  const { t } = useTranslation()
  return (
    <Menu width={200}>
      <Menu.Target>
        <ActionIcon size="sm" aria-label={t('keys.more', { name: of.name })} loading={isPending}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Icon name="edit" />} onClick={onEdit}>
          {t('keys.edit')}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="rotate" />} onClick={() => onAsk('rotate')}>
          {t('keys.rotate')}
        </Menu.Item>
        {of.status === 'enabled' ? (
          <Menu.Item leftSection={<Icon name="paused" />} onClick={() => onAsk('disable')}>
            {t('keys.disable')}
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<Icon name="play" />} onClick={onEnable}>
            {t('keys.enable')}
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item data-danger leftSection={<Icon name="trash" />} onClick={() => onAsk('delete')}>
          {t('keys.delete')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

interface EndDialogProps {
  readonly act: 'disable' | 'delete'
  readonly of: ActedKey
  readonly acts: Pick<Acts<unknown>, 'setStatus' | 'remove' | 'renew'>
  readonly onClose: () => void
}

function EndDialog({ act, of, acts, onClose }: EndDialogProps) {
  const { t } = useTranslation()
  const isDelete = act === 'delete'
  return (
    <Confirm
      title={t(isDelete ? 'keys.deleteTitle' : 'keys.disableTitle')}
      action={t(isDelete ? 'keys.delete' : 'keys.disable')}
      danger={isDelete}
      onClose={onClose}
      onConfirm={async () => {
        await (isDelete ? acts.remove() : acts.setStatus('disabled'))
        await acts.renew()
      }}
    >
      <Marked
        text={
          isDelete
            ? t('keys.deleteText', { name: of.name, hint: of.hint })
            : t('keys.disableText', { name: of.name })
        }
      />
    </Confirm>
  )
}
