// sigma.js, made light: nodes are found without reading pictures back, and a crowd that moves is not drawn whole each time.
//
// With a graphics card its nodes are drawn, without edges and labels. Without one, where to draw them takes the processor
// longer than a frame lasts, the last picture is moved as it is, and drawn anew when it rests.

import { Sigma } from "/vendor/graph.js";

// A node is hit so far from its middle at least, in pixels: a finger is no needle.
const NEAR = matchMedia("(pointer: coarse)").matches ? 14 : 5;
// Who draws where there is no graphics card.
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;
// A picture that was moved is drawn anew after it has rested for so long, also while it is held.
const REST_MS = 250;
// Of a hub so many edges follow it while it is dragged.
const MOST_OWN = 200;
const LAYERS = ["edges", "edgeLabels", "nodes", "labels", "hovers", "hoverNodes"];

export class Drawing extends Sigma {
  // sigma looks up what is under the pointer in a second picture, which costs as much again to draw, and to read it back
  // waits until the last frame is painted: at every move of the mouse. Thousands of distances are nothing beside that.
  createWebGLContext(id, options = {}) {
    const gl = super.createWebGLContext(id, { ...options, picking: false });
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    this.software = SOFTWARE.test(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
    return gl;
  }

  getNodeAtPosition(point) {
    if (this.underway) return this.hoveredNode;
    const at = this.viewportToFramedGraph(point);
    const [origin, unit] = [this.framedGraphToViewport({ x: 0, y: 0 }), this.framedGraphToViewport({ x: 1, y: 0 })];
    const pixels = Math.hypot(unit.x - origin.x, unit.y - origin.y);
    const grown = this.scaleSize(1);
    let [found, least] = [null, Infinity];
    for (const key in this.nodeDataCache) {
      const node = this.nodeDataCache[key];
      const far = Math.hypot(node.x - at.x, node.y - at.y) * pixels;
      if (far < least && !node.hidden && far <= Math.max(NEAR, node.size * grown)) [found, least] = [key, far];
    }
    return found;
  }

  // Whether the picture is on the move by mouse, finger, wheel or an animation, or a node is dragged.
  get moving() {
    const [mouse, touch] = [this.mouseCaptor, this.touchCaptor];
    return Boolean(this.dragged || mouse.isMoving || (mouse.isMouseDown && mouse.draggedEvents) || mouse.currentWheelDirection || touch.isMoving || this.camera.isAnimated());
  }

  render() {
    this.underway = Boolean(this.crowded && this.moving);
    if (!this.underway) return this.renderWhole();
    return this.software && this.drawnAt ? this.movePicture() : this.renderNodes();
  }

  renderWhole() {
    clearTimeout(this.resting);
    this.drawnAt = this.camera.getState();
    delete this.container.dataset.moving;
    for (const id of LAYERS) this.elements[id].style.transform = "";
    Object.assign(this.settings, { hideEdgesOnMove: false, hideLabelsOnMove: false });
    super.render();
    this.drawDragged();
    return this;
  }

  // No edges, no labels, and the layers that would hold them are not even put together.
  renderNodes() {
    this.container.dataset.moving = this.dragged ? "node" : "picture";
    Object.assign(this.settings, { hideEdgesOnMove: true, hideLabelsOnMove: true });
    const mouse = this.mouseCaptor;
    const events = mouse.draggedEvents;
    // By this sigma knows that it moves: it knows no finger and no dragged node.
    mouse.draggedEvents ||= 1;
    super.render();
    mouse.draggedEvents = events;
    this.drawDragged();
    return this;
  }

  movePicture() {
    cancelAnimationFrame(this.renderFrame);
    this.renderFrame = null;
    const now = this.camera.getState();
    const middle = (cameraState) => this.framedGraphToViewport({ x: 0.5, y: 0.5 }, { cameraState });
    const [from, to, scale] = [middle(this.drawnAt), middle(now), this.drawnAt.ratio / now.ratio];
    const transform = `translate(${to.x - scale * from.x}px, ${to.y - scale * from.y}px) scale(${scale})`;
    for (const id of LAYERS) this.elements[id].style.transform = transform;
    this.drawDragged();
    clearTimeout(this.resting);
    if (!this.dragged) this.resting = setTimeout(() => !this.ended && this.renderWhole(), REST_MS);
    this.emit("afterRender");
    return this;
  }

  clear() {
    if (!this.underway || !this.settings.hideEdgesOnMove) return super.clear();
    const gl = this.webGLContexts.nodes;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.clear(gl.COLOR_BUFFER_BIT);
    return this;
  }

  // All of it anew with the next frame, once, however often it is asked for.
  refreshSoon() {
    this.soon ??= requestAnimationFrame(() => {
      this.soon = null;
      if (!this.ended) this.refresh();
    });
  }

  kill() {
    this.ended = true;
    super.kill();
  }

  // A node that is dragged keeps its own edges and its name: that is what it is dragged for.
  drawDragged() {
    if (!this.dragged || !this.underway) return;
    const context = this.canvasContexts.hovers;
    const at = (key) => this.framedGraphToViewport(this.nodeDataCache[key]);
    const [node, from] = [this.nodeDataCache[this.dragged], at(this.dragged)];
    context.clearRect(0, 0, this.width, this.height);
    context.strokeStyle = this.edgeColour;
    context.lineWidth = 1.2;
    context.beginPath();
    let drawn = 0;
    this.graph.forEachEdge(this.dragged, (edge, _attributes, source, target) => {
      if (drawn >= MOST_OWN || this.edgeDataCache[edge].hidden) return;
      drawn += 1;
      const to = at(source === this.dragged ? target : source);
      context.moveTo(from.x, from.y);
      context.lineTo(to.x, to.y);
    });
    context.stroke();
    this.settings.defaultDrawNodeHover(context, { ...node, ...from, size: this.scaleSize(node.size) }, this.settings);
  }
}
