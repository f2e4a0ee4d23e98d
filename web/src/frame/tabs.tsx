/** Tabs: one panel at a time, arrow keys go from one to the next. */
import { useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';

export interface Tab {
  id: string;
  name: string;
  show: () => ReactNode;
}

export function Tabs({ tabs, label }: { tabs: Tab[]; label: string }) {
  const [openId, setOpen] = useState(tabs[0]?.id ?? '');
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const open = tabs.find((tab) => tab.id === openId) ?? tabs[0];
  const pressed = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.id === openId);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (!next) return;
    setOpen(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <div className="tabs">
      <div role="tablist" aria-label={label} ref={list} onKeyDown={pressed}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            data-tab={tab.id}
            aria-selected={tab.id === openId}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === openId ? 0 : -1}
            onClick={() => setOpen(tab.id)}
          >
            {tab.name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${openId}`} className={`panel ${openId}`}>
        {open?.show()}
      </div>
    </div>
  );
}
