import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Loading } from "./loading.tsx";
import { Problem } from "./problem.tsx";

/** A component whose code is loaded when it is shown the first time. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [, setDone] = useState(false);
    const [error, setError] = useState<unknown>();
    const start = () => {
      setError(undefined);
      load().then((component) => {
        loaded = component;
        setDone(true);
      }, setError);
    };
    useEffect(() => {
      if (!loaded) start();
    }, []);
    if (error)
      return (
        <Problem
          error="This part of the page could not be loaded; reload the page."
          retry={() => location.reload()}
        />
      );
    if (!loaded) return <Loading />;
    const Component = loaded;
    return <Component {...props} />;
  };
}
