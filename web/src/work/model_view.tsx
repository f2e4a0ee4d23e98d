/**
 * A body in space: a glTF file turned, moved and looked at from all sides, by pointer and by keyboard.
 *
 * Invariants
 * - It loads with the first body that is opened, and gives back the graphics card's memory when it goes.
 * - Textures inside a file become pictures, which the page's policy lets through; fetching them would be refused.
 *
 * Not here: files that need a decoder of their own (Draco, Meshopt), which are said to be so and can be downloaded.
 */
import { useEffect, useRef, useState } from 'react';
import {
  AmbientLight,
  Box3,
  Color,
  DirectionalLight,
  GridHelper,
  Group,
  HemisphereLight,
  Mesh,
  PerspectiveCamera,
  Scene,
  SRGBColorSpace,
  TextureLoader,
  Vector3,
  WebGLRenderer,
  type Material,
  type Object3D,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

import { useStudio } from '../studio';

type State = 'loading' | 'shown' | 'broken' | 'noGraphics';

/** How far one press of an arrow key turns. */
const TURN = Math.PI / 16;

export function ModelView({ url, title }: { url: string; title: string }) {
  const { say } = useStudio();
  const host = useRef<HTMLDivElement>(null);
  const stage = useRef<Stage | null>(null);
  const [state, setState] = useState<State>('loading');
  const [part, setPart] = useState<number | undefined>(undefined);
  useEffect(() => {
    if (!host.current) return undefined;
    setState('loading');
    let made: Stage;
    try {
      made = new Stage(host.current);
    } catch {
      setState('noGraphics');
      return undefined;
    }
    stage.current = made;
    made.open(url, setPart).then(
      () => setState('shown'),
      () => setState('broken'),
    );
    return () => {
      stage.current = null;
      made.dispose();
    };
  }, [url]);
  const press = (event: React.KeyboardEvent): void => {
    if (stage.current?.press(event.key)) event.preventDefault();
  };
  return (
    <div className="model">
      <div ref={host} className="model-stage" role="application" aria-label={say('modelOf', { title })} aria-describedby="model-keys" tabIndex={0} onKeyDown={press} />
      {state === 'loading' && <progress className="model-progress" value={part} aria-label={say('loading')} />}
      {state === 'broken' && <p role="alert">{say('modelBroken')}</p>}
      {state === 'noGraphics' && <p role="alert">{say('noGraphics')}</p>}
      {state === 'shown' && (
        <p className="row">
          <button type="button" onClick={() => stage.current?.reset()}>
            {say('resetView')}
          </button>
          <span id="model-keys" className="quiet">
            {say('modelKeys')}
          </span>
        </p>
      )}
    </div>
  );
}

/** The scene, its camera and what draws it; drawn only when something moved. */
class Stage {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(40, 1, 0.01, 1_000);
  private readonly controls: OrbitControls;
  private readonly resized: ResizeObserver;
  private readonly home = new Vector3(1, 0.6, 1.4);
  private frame = 0;
  private isGone = false;

  constructor(private readonly host: HTMLElement) {
    this.renderer = new WebGLRenderer({ antialias: true, alpha: true });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    host.append(this.renderer.domElement);
    this.scene.add(new AmbientLight(0xffffff, 0.6), new HemisphereLight(0xffffff, 0x8d8478, 1.4));
    const key = new DirectionalLight(0xffffff, 2);
    key.position.set(3, 5, 4);
    this.scene.add(key);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.addEventListener('change', this.draw);
    this.resized = new ResizeObserver(() => this.fit());
    this.resized.observe(host);
  }

  /** Loads a file and looks at all of it. */
  async open(url: string, tell: (part: number) => void): Promise<void> {
    const loader = new GLTFLoader();
    loader.register((parser) => {
      const { manager, crossOrigin } = parser.options;
      const textures = new TextureLoader(manager);
      textures.setCrossOrigin(crossOrigin);
      (parser as unknown as { textureLoader: TextureLoader }).textureLoader = textures;
      return { name: 'ATELIER_pictures' };
    });
    const { scene } = await loader.loadAsync(url, ({ loaded, total }) => total > 0 && tell(loaded / total));
    if (this.isGone) return release(scene);
    // Whatever its size, it is one unit large and stands on the ground.
    const box = new Box3().setFromObject(scene);
    const size = box.getSize(new Vector3());
    const scale = 1 / (Math.max(size.x, size.y, size.z) || 1);
    const middle = box.getCenter(new Vector3());
    const body = new Group();
    scene.position.set(-middle.x, -box.min.y, -middle.z);
    body.add(scene);
    body.scale.setScalar(scale);
    const grid = new GridHelper(2.4, 12, new Color(0x8e887f), new Color(0x8e887f));
    (grid.material as Material).opacity = 0.35;
    (grid.material as Material).transparent = true;
    this.scene.add(body, grid);
    this.controls.target.set(0, (size.y * scale) / 2, 0);
    this.reset();
  }

  /** Looks at it as in the beginning. */
  reset(): void {
    this.camera.position.copy(this.home).add(this.controls.target);
    this.controls.update();
    this.draw();
  }

  /** Turns by arrow keys, comes nearer and goes away by plus and minus; whether it was such a key. */
  press(key: string): boolean {
    const offset = this.camera.position.clone().sub(this.controls.target);
    const turns: Record<string, [number, number]> = { ArrowLeft: [-TURN, 0], ArrowRight: [TURN, 0], ArrowUp: [0, -TURN], ArrowDown: [0, TURN] };
    const turn = turns[key];
    if (turn) {
      offset.applyAxisAngle(new Vector3(0, 1, 0), turn[0]);
      const side = new Vector3().crossVectors(offset, new Vector3(0, 1, 0)).normalize();
      offset.applyAxisAngle(side, -turn[1]);
    } else if (key === '+' || key === '=') offset.multiplyScalar(0.9);
    else if (key === '-') offset.multiplyScalar(1.1);
    else return false;
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.draw();
    return true;
  }

  dispose(): void {
    this.isGone = true;
    cancelAnimationFrame(this.frame);
    this.resized.disconnect();
    this.controls.dispose();
    release(this.scene);
    this.renderer.dispose();
    this.renderer.domElement.remove();
  }

  private fit(): void {
    const { clientWidth, clientHeight } = this.host;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.renderer.setSize(clientWidth, clientHeight);
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  private readonly draw = (): void => {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.renderer.render(this.scene, this.camera);
    });
  };
}

function release(root: Object3D): void {
  root.traverse((each) => {
    if (!(each instanceof Mesh)) return;
    each.geometry.dispose();
    for (const material of [each.material].flat() as Material[]) {
      for (const value of Object.values(material)) (value as { isTexture?: boolean; dispose?: () => void } | null)?.isTexture && value.dispose();
      material.dispose();
    }
  });
}
